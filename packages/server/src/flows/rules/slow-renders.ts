import { type PersonId, personKey } from '../../features/people/index.ts';

/**
 * A bound on rendering that does not rely on counted work: an operation whose cost nobody counts could block the process for longer
 * than the transaction of its batch may be idle. Such an email is rendered once. In the next attempt of the batch, its draft is held
 * with `render_failed` without rendering it.
 *
 * Only processor time of this thread counts, between the begin and the end of one email, so neither a busy machine nor other work of
 * the process can make an email slow.
 */
export type SlowRenders = {
  /** Whether this email took too long for this person before. */
  has(letter: object, person: PersonId): boolean;
  /** Runs `render`, and remembers the email if it took too long. */
  measure<T>(letter: object, person: PersonId, render: () => T): { rendered: T; isSlow: boolean };
  /** For how many milliseconds each project blocked the process, since the last call. */
  take(): Map<number, number>;
};

/** The limit of an email in a rendering thread. An email that uses all of its counted work takes about 0.1 s. */
const SLOW_MS = 2_000;

/** The memory lasts as long as the definitions of the project do: a new version of the template is rendered again. */
export function createSlowRenders(usedMs: () => number = threadMs): SlowRenders {
  const known = new WeakMap<object, Set<string>>();
  let blocked = new Map<number, number>();
  return {
    has: (letter, person) => known.get(letter)?.has(personKey(person)) ?? false,
    measure(letter, person, render) {
      const begin = usedMs();
      const rendered = render();
      const ms = usedMs() - begin;
      if (ms < SLOW_MS) return { rendered, isSlow: false };
      known.set(letter, (known.get(letter) ?? new Set()).add(personKey(person)));
      blocked.set(person.projectId, (blocked.get(person.projectId) ?? 0) + ms);
      return { rendered, isSlow: true };
    },
    take() {
      const taken = blocked;
      blocked = new Map();
      return taken;
    },
  };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
