/* What each model answers to made-up fields, one number per line after its name, to be compared between processors.
   Models that step are rolled out, those of a time answer at the times of training. Usage: predictions MODEL... */
#include <lano/lano.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int status) {
  if (status == LANO_OK) return;
  fprintf(stderr, "%s\n", lano_message());
  exit(1);
}

static float* floats(int64_t count) { return malloc(sizeof(float) * (size_t)(count > 0 ? count : 1)); }

/* A field without symmetries. */
static float* waves(int64_t points, int64_t channels, double shift) {
  float* values = floats(points * channels);
  for (int64_t i = 0; i < points * channels; ++i) values[i] = (float)(1.5 * sin(0.37 * (double)i + shift) + 0.2);
  return values;
}

/* Points of a mesh, bent a little; without extents scattered ones. */
static float* places(int64_t points, int64_t dims, int axes, const int64_t extents[3]) {
  float* x = floats(points * dims);
  for (int64_t i = 0; i < points; ++i) {
    int64_t rest = i;
    for (int64_t a = dims; a-- > 0;) {
      double at = fmod(0.5 + (double)(i + 1) * (a == 0 ? 0.7548776662466927 : a == 1 ? 0.5698402909980532 : 0.31), 1.0);
      if (axes > 0) {
        at = (double)(rest % extents[a]) / (double)extents[a];
        at += 0.02 * sin(3.0 * (double)(rest % extents[a]) + (double)i);
        rest /= extents[a];
      }
      x[i * dims + a] = (float)at;
    }
  }
  return x;
}

int main(int argc, char** argv) {
  enum { kSteps = 3, kRoom = 16, kCloud = 150 };
  for (int each = 1; each < argc; ++each) {
    lano_operator* op = NULL;
    check(lano_load(argv[each], &op));
    int64_t extents[3] = {0, 0, 0};
    const int axes = lano_mesh(op, extents);
    int64_t points = axes > 0 ? 1 : kCloud, count = 1;
    for (int a = 0; a < axes; ++a) points *= extents[a];
    float* x = lano_grid_points(op) > 0 ? NULL : places(points, lano_dims(op), axes, extents);
    float* input = waves(points, lano_input_channels(op), 0.0);
    const int64_t channels = lano_output_channels(op);
    double times[kRoom];
    if (lano_task(op) == LANO_AUTOREGRESSIVE) count = kSteps;
    if (lano_task(op) == LANO_TIME_CONDITIONAL) count = lano_training_times(op, times, kRoom);
    if (count > kRoom) count = kRoom;
    float* output = floats(count * points * channels);
    if (lano_task(op) == LANO_AUTOREGRESSIVE) {
      float* state = waves(points * lano_state_frames(op), channels, 1.0);
      const lano_call call = {.state = state};
      check(lano_roll_out(op, points, x, input, count, output, &call));
      free(state);
    } else if (lano_task(op) == LANO_TIME_CONDITIONAL) {
      check(lano_predict_times(op, points, x, input, count, times, output, NULL));
    } else {
      check(lano_predict(op, points, x, input, output));
    }
    printf("model %s\n", argv[each]);
    for (int64_t i = 0; i < count * points * channels; ++i) printf("%.9g\n", (double)output[i]);
    free(output);
    free(input);
    free(x);
    lano_free(op);
  }
  return 0;
}
