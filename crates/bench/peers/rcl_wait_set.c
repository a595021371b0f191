/* Why this exists: what one event costs an executor that is built on `rcl`'s wait set, among idle entities.
 *
 *   rcl_wait_set IDLE SECONDS     prints one JSON object
 *
 * One thread triggers a guard condition, fills the wait set, waits, finds who is ready and calls an empty function, as the
 * executors of rclcpp and rclpy do around their callbacks (rclcpp's keep the set of entities, but rcl_wait is called all the
 * same). The idle entities are guard conditions too: the cheapest that rcl has. */
#include <rcl/error_handling.h>
#include <rcl/rcl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* See rcl_latency.c. */
char _Py_TrueStruct[64];
void *PyExc_RuntimeError;

static void checked(rcl_ret_t code, const char *what) {
  if (code == RCL_RET_OK) return;
  fprintf(stderr, "rcl_wait_set: %s: %s\n", what, rcl_error_is_set() ? rcl_get_error_string().str : "no reason given");
  exit(1);
}

static uint64_t now_nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

static volatile uint64_t calls;

static __attribute__((noinline)) void callback(void) { calls++; }

int main(int argc, char **argv) {
  const size_t idle = argc > 1 ? (size_t) atol(argv[1]) : 0;
  const double seconds = argc > 2 ? atof(argv[2]) : 1;
  rcl_init_options_t init = rcl_get_zero_initialized_init_options();
  checked(rcl_init_options_init(&init, rcl_get_default_allocator()), "rcl_init_options_init");
  rcl_context_t context = rcl_get_zero_initialized_context();
  checked(rcl_init(0, NULL, &init, &context), "rcl_init");
  const size_t count = idle + 1;
  rcl_guard_condition_t *guards = calloc(count, sizeof *guards);
  if (guards == NULL) return 1;
  for (size_t n = 0; n < count; n++) {
    guards[n] = rcl_get_zero_initialized_guard_condition();
    checked(rcl_guard_condition_init(&guards[n], &context, rcl_guard_condition_get_default_options()),
            "rcl_guard_condition_init");
  }
  rcl_wait_set_t wait_set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&wait_set, 0, count, 0, 0, 0, 0, &context, rcl_get_default_allocator()), "rcl_wait_set_init");
  rcl_guard_condition_t *busy = &guards[idle];
  uint64_t begin = 0, end = 0;
  const uint64_t length = (uint64_t) (seconds * 1e9), warm_up = 100;
  for (uint64_t n = 0;; n++) {
    if (n == warm_up) {
      begin = now_nanos();
      calls = 0;
    } else if (n > warm_up && n % 16 == 0) {
      end = now_nanos();
      if (end - begin >= length) break;
    }
    checked(rcl_trigger_guard_condition(busy), "rcl_trigger_guard_condition");
    checked(rcl_wait_set_clear(&wait_set), "rcl_wait_set_clear");
    for (size_t g = 0; g < count; g++)
      checked(rcl_wait_set_add_guard_condition(&wait_set, &guards[g], NULL), "rcl_wait_set_add_guard_condition");
    checked(rcl_wait(&wait_set, -1), "rcl_wait");
    for (size_t g = 0; g < count; g++) {
      if (wait_set.guard_conditions[g] != NULL) callback();
    }
  }
  printf("{\"events_per_second\": %.1f}\n", (double) calls * 1e9 / (double) (end - begin));
  checked(rcl_wait_set_fini(&wait_set), "rcl_wait_set_fini");
  for (size_t n = 0; n < count; n++) checked(rcl_guard_condition_fini(&guards[n]), "rcl_guard_condition_fini");
  free(guards);
  checked(rcl_shutdown(&context), "rcl_shutdown");
  checked(rcl_context_fini(&context), "rcl_context_fini");
  checked(rcl_init_options_fini(&init), "rcl_init_options_fini");
  return 0;
}
