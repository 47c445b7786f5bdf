/* Predicts a field on a cloud of scattered points, from an input that varies from point to point.
   Usage: cloud MODEL.safetensors (of a model that was trained on clouds in the plane) */
#include <lano/lano.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 500 };

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: cloud MODEL.safetensors\n");
    return 2;
  }
  lano_operator* op = NULL;
  if (lano_load(argv[1], &op) != LANO_OK) {
    fprintf(stderr, "%s\n", lano_message());
    return 1;
  }
  const int64_t in = lano_input_channels(op), out = lano_output_channels(op);
  float* coordinates = malloc(sizeof(float) * POINTS * 2);
  float* input = malloc(sizeof(float) * (size_t)(POINTS * in + 1));
  float* output = malloc(sizeof(float) * (size_t)(POINTS * out));
  for (int i = 0; i < POINTS; ++i) { /* a sequence that fills the unit square evenly, without a grid */
    const double x = fmod(0.5 + i * 0.7548776662466927, 1.0), y = fmod(0.5 + i * 0.5698402909980532, 1.0);
    coordinates[2 * i] = (float)x;
    coordinates[2 * i + 1] = (float)y;
    for (int64_t c = 0; c < in; ++c) input[i * in + c] = (float)(sin(3 * x + (double)c) * cos(2 * y));
  }
  if (lano_predict(op, POINTS, coordinates, input, output) != LANO_OK) {
    fprintf(stderr, "%s\n", lano_message());
    return 1;
  }
  double sum = 0, least = output[0], largest = output[0];
  for (int64_t i = 0; i < POINTS * out; ++i) {
    sum += output[i];
    least = fmin(least, output[i]);
    largest = fmax(largest, output[i]);
  }
  printf("%d points, mean %.6e, least %.6e, largest %.6e\n", POINTS, sum / (double)(POINTS * out), least, largest);
  free(coordinates);
  free(input);
  free(output);
  lano_free(op);
  return 0;
}
