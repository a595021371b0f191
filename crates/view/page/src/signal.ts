// An event for all listeners: the only form of event within the page.

/** Ends the thing that it was returned for; a second call does nothing. */
export type End = () => void;

export class Signal<T> {
  private readonly listeners = new Set<(value: T) => void>();

  listen(listener: (value: T) => void): End {
    // A closure of its own, so that the same function can listen twice.
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
