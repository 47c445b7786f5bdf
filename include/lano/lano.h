/* The C interface of LANO: load a trained operator, predict with it. For C, C++, Fortran (ISO_C_BINDING) and whatever
   calls C. Every function that can fail returns a status; lano_message() then says in one sentence what was expected
   and what was found. No exception leaves this interface. An operator may be used from many threads at once, but for
   lano_use_agents and lano_free. Arrays are float, points outermost: coordinates [points][dims], input [points][input
   channels], output [points][output channels]. */
#ifndef LANO_H
#define LANO_H

#include <stdint.h>

#if defined(__GNUC__)
#define LANO_API __attribute__((visibility("default")))
#else
#define LANO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lano_operator lano_operator;

enum { LANO_OK = 0, LANO_FAILED = 1, LANO_MISUSED = 2, LANO_NO_MEMORY = 3 };
enum { LANO_STEADY = 0, LANO_AUTOREGRESSIVE = 1, LANO_TIME_CONDITIONAL = 2 };

/* Of the last failure in this thread; never null. Valid until the next call that fails in it. */
LANO_API const char* lano_message(void);
LANO_API const char* lano_version(void);

/* Threads of a call, whichever thread makes it; 0: OMP_NUM_THREADS or all cores. Calls at the same time have that many
 * each. */
LANO_API void lano_set_threads(int count);

/* Loads a model file (.safetensors) and sets *op; lano_free gives it back (null is allowed). */
LANO_API int lano_load(const char* path, lano_operator** op);
LANO_API void lano_free(lano_operator* op);

LANO_API int lano_task(const lano_operator* op);
LANO_API int64_t lano_dims(const lano_operator* op);
LANO_API int64_t lano_input_channels(const lano_operator* op);
LANO_API int64_t lano_output_channels(const lano_operator* op);
LANO_API int64_t lano_parameters(const lano_operator* op);
/* How many times the training data had, 0 for steady models; the first `room` of them go to times (may be null). */
LANO_API int64_t lano_training_times(const lano_operator* op, double* times, int64_t room);
/* Axes of the grid or mesh of training and their extents; 0 for point clouds. extents has room for three. */
LANO_API int lano_mesh(const lano_operator* op, int64_t extents[3]);
/* Points of the training grid stored in the file where all samples shared it, else 0. */
LANO_API int64_t lano_grid_points(const lano_operator* op);

/* Autoregressive models: frames of the state they step from; else 0. */
LANO_API int64_t lano_state_frames(const lano_operator* op);

/* Another number of agents than in training; *used (may be null) is what it came to. */
LANO_API int lano_use_agents(lano_operator* op, int64_t agents, int64_t* used);

/* One sample. coordinates may be null where lano_grid_points is not 0 and points is that number: then the training grid
 * is meant. */
LANO_API int lano_predict(const lano_operator* op, int64_t points, const float* coordinates, const float* input,
                          float* output);

/* What a call may say in addition to its points; set all to 0 first. */
typedef struct lano_call {
  int32_t axes; /* of the points' mesh, with mesh[0 .. axes-1]; 0: the mesh of training, or a cloud */
  int64_t mesh[3];
  double time;        /* time-conditional models: the time asked for */
  const float* state; /* autoregressive models: [points][output channels], the state to step from, or
                         [lano_state_frames][points][output channels], oldest first; output is the next frame */
} lano_call;

LANO_API int lano_predict_call(const lano_operator* op, int64_t points, const float* coordinates, const float* input,
                               float* output, const lano_call* call);

/* Time-conditional models: one prediction per time, output [count][points][output channels]. call may be
   null; its time is not looked at. */
LANO_API int lano_predict_times(const lano_operator* op, int64_t points, const float* coordinates, const float* input,
                                int64_t count, const double* times, float* output, const lano_call* call);

/* Autoregressive models: steps from call->state on, each answer the newest frame of the next step's state. output
   [steps][points][output channels] takes all of them. */
LANO_API int lano_roll_out(const lano_operator* op, int64_t points, const float* coordinates, const float* input,
                           int64_t steps, float* output, const lano_call* call);

/* Agents prepared once for a field; then any points are decoded against them, for probes and zooms. Models that cannot
   (docs/runtime.md says which) fail with the reason. call may be null; its state is that of the prepared points.
   lano_prepared_free gives it back (null is allowed); it may outlive its operator. */
typedef struct lano_prepared lano_prepared;
LANO_API int lano_prepare(const lano_operator* op, int64_t points, const float* coordinates, const float* input,
                          const lano_call* call, lano_prepared** prepared);
LANO_API void lano_prepared_free(lano_prepared* prepared);
/* state: as in lano_call, at these points, for autoregressive models; else null. */
LANO_API int lano_decode(const lano_prepared* prepared, int64_t points, const float* coordinates, const float* input,
                         const float* state, float* output);

#ifdef __cplusplus
}
#endif
#endif
