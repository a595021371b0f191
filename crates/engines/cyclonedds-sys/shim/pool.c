/* Memory of samples. A new 4 MB block costs a page fault for each 4 KB, which is more than sending it over loopback costs. So
 * blocks are kept by size class, within a limit, and reused. One pool serves all endpoints of a participant. */
#include <stdlib.h>
#include "dds/ddsrt/atomics.h"
#include "dds/ddsrt/sync.h"
#include "feros_shim.h"

/* Classes are powers of two from 512 bytes up to 64 MB; larger blocks are not kept. */
enum { SMALLEST_LOG2 = 9, CLASSES = 18, NOT_KEPT = CLASSES };

/* The limit on the blocks that are kept per class. It is enough for the histories of a few busy endpoints. */
enum { MAX_KEPT = 64 };

struct free_block { struct free_block *next; };

struct size_class {
  struct free_block *head;
  uint32_t count;
};

struct feros_pool {
  ddsrt_atomic_uint64_t references;
  size_t retain_bytes;
  ddsrt_mutex_t lock; /* guards what follows */
  size_t retained_bytes;
  struct size_class classes[CLASSES];
};

static size_t class_bytes (uint32_t size_class)
{
  return (size_t) 1 << (SMALLEST_LOG2 + size_class);
}

static uint32_t class_of (size_t size)
{
  uint32_t size_class = 0;
  while (size_class < CLASSES && class_bytes (size_class) < size)
    size_class++;
  return size_class;
}

feros_pool *feros_pool_new (size_t retain_bytes)
{
  feros_pool *pool = calloc (1, sizeof (*pool));
  if (pool == NULL)
    return NULL;
  pool->retain_bytes = retain_bytes;
  ddsrt_atomic_st64 (&pool->references, 1);
  ddsrt_mutex_init (&pool->lock);
  return pool;
}

void feros_pool_ref (feros_pool *pool)
{
  ddsrt_atomic_inc64 (&pool->references);
}

void feros_pool_unref (feros_pool *pool)
{
  if (ddsrt_atomic_dec64_nv (&pool->references) != 0)
    return;
  for (uint32_t i = 0; i < CLASSES; i++)
  {
    struct free_block *block = pool->classes[i].head;
    while (block)
    {
      struct free_block *next = block->next;
      free (block);
      block = next;
    }
  }
  ddsrt_mutex_destroy (&pool->lock);
  free (pool);
}

void *feros_pool_alloc (feros_pool *pool, size_t size, uint32_t *size_class)
{
  void *block = NULL;
  *size_class = class_of (size);
  ddsrt_mutex_lock (&pool->lock);
  if (*size_class != NOT_KEPT && pool->classes[*size_class].head != NULL)
  {
    struct size_class *c = &pool->classes[*size_class];
    block = c->head;
    c->head = c->head->next;
    c->count--;
    pool->retained_bytes -= class_bytes (*size_class);
  }
  ddsrt_mutex_unlock (&pool->lock);
  if (block != NULL)
    return block;
  /* Zeroed, because a writer's memory is lent as initialised bytes. For large blocks this costs nothing, since the system
   returns zero pages. */
  return calloc (1, *size_class == NOT_KEPT ? size : class_bytes (*size_class));
}

void feros_pool_free (feros_pool *pool, void *block, uint32_t size_class)
{
  bool keep = false;
  ddsrt_mutex_lock (&pool->lock);
  if (size_class != NOT_KEPT)
  {
    struct size_class *c = &pool->classes[size_class];
    keep = c->count < MAX_KEPT && pool->retained_bytes + class_bytes (size_class) <= pool->retain_bytes;
    if (keep)
    {
      struct free_block *free_block = block;
      free_block->next = c->head;
      c->head = free_block;
      c->count++;
      pool->retained_bytes += class_bytes (size_class);
    }
  }
  ddsrt_mutex_unlock (&pool->lock);
  if (!keep)
    free (block);
}
