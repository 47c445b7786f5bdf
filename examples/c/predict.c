/* Predicts on the training grid with a constant input. Usage: predict MODEL.safetensors */
#include <lano/lano.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: predict MODEL.safetensors\n");
    return 2;
  }
  lano_operator* op = NULL;
  if (lano_load(argv[1], &op) != LANO_OK) {
    fprintf(stderr, "%s\n", lano_message());
    return 1;
  }
  const int64_t points = lano_grid_points(op);
  float* input = malloc(sizeof(float) * (size_t)(points * lano_input_channels(op)));
  float* output = malloc(sizeof(float) * (size_t)(points * lano_output_channels(op)));
  for (int64_t i = 0; i < points * lano_input_channels(op); ++i) input[i] = 5.0f;
  if (lano_predict(op, points, NULL, input, output) != LANO_OK) {
    fprintf(stderr, "%s\n", lano_message());
    return 1;
  }
  double sum = 0;
  for (int64_t i = 0; i < points * lano_output_channels(op); ++i) sum += output[i];
  printf("%lld points, mean %.6e\n", (long long)points, sum / (double)(points * lano_output_channels(op)));
  free(input);
  free(output);
  lano_free(op);
  return 0;
}
