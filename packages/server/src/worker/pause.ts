/** Waits, until told to wait no longer. */
export type Pause = { of(ms: number): Promise<void>; end(): void };

export function createPause(): Pause {
  const ended = Promise.withResolvers<void>();
  return {
    async of(ms) {
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([over, ended.promise]);
      clearTimeout(timer);
    },
    end: () => ended.resolve(),
  };
}
