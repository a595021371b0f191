// An event that all listeners receive; the page's modules use no other kind of event.

/** Ends ongoing work, such as a subscription; a second call has no effect. */
export type End = () => void;

export class Signal<T> {
  private readonly listeners = new Set<(value: T) => void>();

  listen(listener: (value: T) => void): End {
    // Each call makes a new closure, so that the same function can listen twice.
    const own = (value: T): void => listener(value);
    this.listeners.add(own);
    return () => {
      this.listeners.delete(own);
    };
  }

  emit(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }

  get isHeard(): boolean {
    return this.listeners.size > 0;
  }
}
