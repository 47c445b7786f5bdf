/* Steps an autoregressive operator five times from a constant state. Usage: roll_out MODEL.safetensors */
#include <lano.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 5 };

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: roll_out MODEL.safetensors\n");
    return 2;
  }
  lano_operator* op = NULL;
  if (lano_load(argv[1], &op) != LANO_OK) {
    fprintf(stderr, "%s\n", lano_message());
    return 1;
  }
  const int64_t points = lano_grid_points(op), values = points * lano_output_channels(op);
  float* input = malloc(sizeof(float) * (size_t)(points * lano_input_channels(op) + 1));
  float* state = malloc(sizeof(float) * (size_t)values);
  float* states = malloc(sizeof(float) * (size_t)(STEPS * values));
  for (int64_t i = 0; i < points * lano_input_channels(op); ++i) input[i] = 0.5f;
  for (int64_t i = 0; i < values; ++i) state[i] = 0.25f;
  lano_call call = {0};
  call.state = state;
  if (lano_roll_out(op, points, NULL, input, STEPS, states, &call) != LANO_OK) {
    fprintf(stderr, "%s\n", lano_message());
    return 1;
  }
  double sum = 0;
  for (int64_t i = 0; i < values; ++i) sum += states[(STEPS - 1) * values + i];
  printf("%d steps, mean %.6e\n", STEPS, sum / (double)values);
  free(input);
  free(state);
  free(states);
  lano_free(op);
  return 0;
}
