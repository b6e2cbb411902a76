const SECONDS = 3;
const OF_EACH_SLOT = 4;
const MOST = 500;

type Pace = { note(): void; ahead(): number };

/**
 * Limits how many emails may wait for a slot to as many as the last seconds show can be sent in that time. A large claim is cheap per
 * email, but claimed emails belong to this process, so no other process can send them.
 */
export function createPace(slots: number, now: () => number = () => performance.now()): Pace {
  const counts = new Map<number, number>();
  return {
    note() {
      const second = Math.floor(now() / 1_000);
      counts.set(second, (counts.get(second) ?? 0) + 1);
      for (const old of counts.keys()) if (old < second - SECONDS) counts.delete(old);
    },
    ahead() {
      const second = Math.floor(now() / 1_000);
      let total = 0;
      for (const [at, count] of counts) if (at >= second - SECONDS) total += count;
      return Math.min(MOST, Math.max(slots * OF_EACH_SLOT, total));
    },
  };
}
