/* Steps an autoregressive operator five times from a bump in the middle of its grid.
   Usage: roll_out MODEL.safetensors (of a model that was trained on a grid or mesh) */
#include <lano/lano.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 5 };

/* exp(-20 r^2) around the middle of the index box, a sample of what a solver would start from. */
static double bump(int64_t point, int axes, const int64_t extents[3]) {
  double square = 0;
  for (int a = axes - 1; a >= 0; --a) {
    const double place = ((double)(point % extents[a]) + 0.5) / (double)extents[a] - 0.5;
    square += place * place;
    point /= extents[a];
  }
  return exp(-20 * square);
}

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
  int64_t extents[3];
  const int axes = lano_mesh(op, extents);
  const int64_t points = lano_grid_points(op), in = lano_input_channels(op), out = lano_output_channels(op),
                values = points * out;
  float* input = malloc(sizeof(float) * (size_t)(points * in + 1));
  float* state = malloc(sizeof(float) * (size_t)values);
  float* states = malloc(sizeof(float) * (size_t)(STEPS * values));
  for (int64_t i = 0; i < points; ++i) {
    for (int64_t c = 0; c < in; ++c) input[i * in + c] = (float)(0.5 - bump(i, axes, extents));
    for (int64_t c = 0; c < out; ++c) state[i * out + c] = (float)((double)(c + 1) * bump(i, axes, extents));
  }
  lano_call call = {0};
  call.state = state;
  if (lano_roll_out(op, points, NULL, input, STEPS, states, &call) != LANO_OK) {
    fprintf(stderr, "%s\n", lano_message());
    return 1;
  }
  for (int step = 0; step < STEPS; ++step) {
    const float* const now = states + step * values;
    double sum = 0, largest = now[0];
    for (int64_t i = 0; i < values; ++i) {
      sum += now[i];
      largest = fmax(largest, now[i]);
    }
    printf("step %d, mean %.6e, largest %.6e\n", step + 1, sum / (double)values, largest);
  }
  free(input);
  free(state);
  free(states);
  lano_free(op);
  return 0;
}
