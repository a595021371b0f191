/* The single context of the program, its nodes, and the code that ends its waits. */
#include "context.h"

/* librcl.so of the wheels is linked to libraries of the Python bindings, which nothing here calls. So that the process does
 * not need Python, the two variables of these libraries are defined here; their functions stay unresolved until they are
 * called. */
char _Py_TrueStruct[64];
void *PyExc_RuntimeError;

rcl_context_t context;

void node_init(rcl_node_t *node, const char *kind, uint64_t number) {
  char name[64];
  snprintf(name, sizeof name, "feros_lab_%s_%d_%llu", kind, (int) getpid(), (unsigned long long) number);
  rcl_node_options_t options = rcl_node_get_default_options();
  options.enable_rosout = false;
  *node = rcl_get_zero_initialized_node();
  checked(rcl_node_init(node, name, "", &context, &options), "rcl_node_init");
}

void end_init(struct end *end, const struct contract *c, size_t waits) {
  memset(end, 0, sizeof *end);
  end->c = c;
  end->count = waits;
  end->guards = (rcl_guard_condition_t *) calloc(waits, sizeof *end->guards);
  if (end->guards == NULL) contract_error("failed", "guard conditions", "no memory");
  for (size_t i = 0; i < waits; i++) {
    end->guards[i] = rcl_get_zero_initialized_guard_condition();
    checked(rcl_guard_condition_init(&end->guards[i], &context, rcl_guard_condition_get_default_options()),
            "rcl_guard_condition_init");
  }
}

void end_now(struct end *end) {
  __atomic_store_n(&end->reached, true, __ATOMIC_RELEASE);
  for (size_t i = 0; i < end->count; i++) checked(rcl_trigger_guard_condition(&end->guards[i]), "rcl_trigger_guard_condition");
}

static void *wait_for_stop(void *argument) {
  struct end *end = (struct end *) argument;
  while (!contract_wait_stopped(end->c, 1000000)) {
  }
  end_now(end);
  return NULL;
}

pthread_t end_when_stopped(struct end *end) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, wait_for_stop, end) != 0) contract_error("failed", "a thread", strerror(errno));
  return thread;
}

void end_fini(struct end *end) {
  for (size_t i = 0; i < end->count; i++) checked(rcl_guard_condition_fini(&end->guards[i]), "rcl_guard_condition_fini");
  free(end->guards);
}
