/* The role `executor`, which measures the cost of one event for an executor on `rcl`'s wait set,
 * among idle entities.
 *
 * One thread triggers a guard condition, fills the wait set, waits, finds the ready entity and calls an empty function, as
 * the executors of rclcpp and rclpy do around their callbacks (rclcpp keeps the set of entities, but also calls rcl_wait).
 * The idle entities are guard conditions too, the cheapest entities of rcl. */
#include "wait_set.h"

#include "context.h"

static volatile uint64_t calls;

static __attribute__((noinline)) void callback(void) { calls++; }

static void turn(rcl_wait_set_t *set, rcl_guard_condition_t *guards, size_t count) {
  checked(rcl_trigger_guard_condition(&guards[count - 1]), "rcl_trigger_guard_condition");
  checked(rcl_wait_set_clear(set), "rcl_wait_set_clear");
  for (size_t g = 0; g < count; g++)
    checked(rcl_wait_set_add_guard_condition(set, &guards[g], NULL), "rcl_wait_set_add_guard_condition");
  checked(rcl_wait(set, -1), "rcl_wait");
  for (size_t g = 0; g < count; g++)
    if (set->guard_conditions[g] != NULL) callback();
}

void wait_set_turns(const struct contract *c) {
  const size_t count = c->idle + 1;
  rcl_guard_condition_t *guards = (rcl_guard_condition_t *) calloc(count, sizeof *guards);
  if (guards == NULL) contract_error("failed", "guard conditions", "no memory");
  for (size_t g = 0; g < count; g++) {
    guards[g] = rcl_get_zero_initialized_guard_condition();
    checked(rcl_guard_condition_init(&guards[g], &context, rcl_guard_condition_get_default_options()),
            "rcl_guard_condition_init");
  }
  rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
  checked(rcl_wait_set_init(&set, 0, count, 0, 0, 0, 0, &context, rcl_get_default_allocator()), "rcl_wait_set_init");
  contract_ready();
  for (uint64_t n = 0; n < c->warm_up; n++) turn(&set, guards, count);
  calls = 0;
  const uint64_t begin = contract_now(), length = (uint64_t) (c->seconds * 1e9);
  uint64_t now = begin;
  while (now - begin < length) {
    for (int n = 0; n < 16; n++) turn(&set, guards, count);
    now = contract_now();
  }
  contract_value("events_per_second", (double) calls * 1e9 / (double) (now - begin));
  checked(rcl_wait_set_fini(&set), "rcl_wait_set_fini");
  for (size_t g = 0; g < count; g++) checked(rcl_guard_condition_fini(&guards[g]), "rcl_guard_condition_fini");
  free(guards);
  contract_end(NULL, NULL, 0);
}
