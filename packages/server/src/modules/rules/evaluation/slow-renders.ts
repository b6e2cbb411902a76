import { type PersonId, personKey } from '../../users/index.ts';
import type { RenderedLetter } from '../../rendering/index.ts';

/**
 * A bound on rendering that does not rely on counted work. An operation without a counted cost could block the process for longer than the
 * transaction of its batch may be idle. Such an email is rendered once. In the next attempt of the batch, its draft is held with
 * `render_failed` without rendering it.
 *
 * Only processor time of this thread counts, between the begin and the end of one email. So neither a busy host nor other work of the
 * process can make an email slow.
 */
export type SlowRenders = {
  /** Returns the email as failed if it took too long for this user before. */
  find(letter: object, person: PersonId): RenderedLetter | undefined;
  /** Runs `render`. If it takes too long, the email is remembered and returned as failed. */
  measure(letter: object, person: PersonId, render: () => RenderedLetter): RenderedLetter;
  /** Returns how many milliseconds each project blocked the process since the last call. */
  take(): Map<number, number>;
};

/** The limit of an email in a rendering thread. An email that uses all of its counted work takes about 0.1 s. */
const SLOW_MS = 2_000;

/** The memory is kept as long as the definitions of the project: a new version of the template is rendered again. */
export function createSlowRenders(usedMs: () => number = threadMs): SlowRenders {
  const known = new WeakMap<object, Map<string, RenderedLetter>>();
  let blocked = new Map<number, number>();
  return {
    find: (letter, person) => known.get(letter)?.get(personKey(person)),
    measure(letter, person, render) {
      const begin = usedMs();
      const rendered = render();
      const ms = usedMs() - begin;
      if (ms < SLOW_MS) return rendered;
      const failed = failedOf(rendered);
      known.set(letter, (known.get(letter) ?? new Map()).set(personKey(person), failed));
      blocked.set(person.projectId, (blocked.get(person.projectId) ?? 0) + ms);
      return failed;
    },
    take() {
      const taken = blocked;
      blocked = new Map();
      return taken;
    },
  };
}

/** The draft keeps its subject, so that members recognize it in Review. A body could be large, and is not remembered. */
function failedOf({ content, work }: RenderedLetter): RenderedLetter {
  return { content: { ...content, body: '' }, facts: {}, missing: [], failed: 'body', work };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
