import { type RenderedContent, WORK_MAX } from '../../rendering/index.ts';
import { type PersonId, personKey } from '../../users/index.ts';

/**
 * Rendering within one batch. A single email is bounded (`WORK_MAX`), but a batch has up to 1,000 of them. The expensive template of
 * one project must not take the time of all others.
 */
export type BatchRendering = {
  /** Renders an email and counts its work. An email that takes too long is returned as failed. */
  render(email: EmailOfPerson, render: () => RenderedContent): RenderedContent;
  /** The project that has used more than its part of a batch, or null. */
  over(): number | null;
  /** Lets other work of the process continue, if enough was rendered since the last pause. */
  pause(): Promise<void>;
};

/** `email` is an object that stays the same until the definitions of the project change. */
type EmailOfPerson = { email: object; person: PersonId };

/** Ten emails of the most expensive kind, about a second. Shipped templates use a two-hundredth of their budget or less. */
const BATCH_WORK_MAX = 10 * WORK_MAX;
/** About 20 ms. */
const PAUSE_AFTER = WORK_MAX / 5;
/** Other work of a busy process runs in the pauses. The transaction may be idle for twice this time. */
const BATCH_MAX_MS = 5_000;

export function createBatchRendering(
  slow: SlowRenders,
  now = (): number => performance.now(),
): BatchRendering {
  const spent = new Map<number, number>();
  const most = { projectId: null as number | null, work: 0 };
  const began = now();
  let sincePause = 0;
  return {
    render({ email, person }, render) {
      const failed = slow.find(email, person);
      if (failed) return failed;
      const rendered = slow.measure(email, person, render);
      const { projectId } = person;
      const work = (spent.get(projectId) ?? 0) + rendered.work;
      spent.set(projectId, work);
      if (work > most.work) Object.assign(most, { projectId, work });
      sincePause += slow.find(email, person) ? PAUSE_AFTER : rendered.work;
      return rendered;
    },
    over: () => (most.work > BATCH_WORK_MAX || now() - began > BATCH_MAX_MS ? most.projectId : null),
    async pause() {
      if (sincePause < PAUSE_AFTER) return;
      sincePause = 0;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

type RenderLimitOptions = {
  rendering: BatchRendering;
  /** True if the batch cannot be made smaller, so that it has to succeed whatever it renders. */
  isSmallest?: boolean;
  /** The share of the batch that was rendered before. */
  shareMin: number;
};

/** Processes one item after another. The process does other work in between, and a batch that renders too much ends early. */
export async function mapWithinLimits<T, R>(
  items: readonly T[],
  { rendering, isSmallest = false, shareMin }: RenderLimitOptions,
  write: (item: T) => R[],
): Promise<R[]> {
  const written: R[] = [];
  for (const [at, item] of items.entries()) {
    const over = isSmallest ? null : rendering.over();
    if (over !== null) throw new RenderLimitExceeded(over, Math.max(at / items.length, shareMin));
    written.push(...write(item));
    await rendering.pause();
  }
  return written;
}

/** Thrown by a batch that renders too much. The batch is rolled back and retried with `share` of its records. */
export class RenderLimitExceeded extends Error {
  readonly projectId: number;
  readonly share: number;

  constructor(projectId: number, share: number) {
    super(`rendering the drafts of project ${projectId} takes too long for one batch`);
    this.name = 'RenderLimitExceeded';
    this.projectId = projectId;
    this.share = share;
  }
}

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
  find(email: object, person: PersonId): RenderedContent | undefined;
  /** Runs `render`. If it takes too long, the email is remembered and returned as failed. */
  measure(email: object, person: PersonId, render: () => RenderedContent): RenderedContent;
  /** Returns how many milliseconds each project blocked the process since the last call. */
  take(): Map<number, number>;
};

/** The limit of an email in a rendering thread. An email that uses all of its counted work takes about 0.1 s. */
const SLOW_MS = 2_000;

/** The memory is kept as long as the definitions of the project: a new version of the template is rendered again. */
export function createSlowRenders(usedMs: () => number = threadMs): SlowRenders {
  const failures = new WeakMap<object, Map<string, RenderedContent>>();
  let blocked = new Map<number, number>();
  return {
    find: (email, person) => failures.get(email)?.get(personKey(person)),
    measure(email, person, render) {
      const begin = usedMs();
      const rendered = render();
      const ms = usedMs() - begin;
      if (ms < SLOW_MS) return rendered;
      const failed = failedOf(rendered);
      failures.set(email, (failures.get(email) ?? new Map()).set(personKey(person), failed));
      blocked.set(person.projectId, (blocked.get(person.projectId) ?? 0) + ms);
      return failed;
    },
    take() {
      const durations = blocked;
      blocked = new Map();
      return durations;
    },
  };
}

/** The draft keeps its subject, so that members recognize it in Review. A body could be large, and is not remembered. */
function failedOf({ content, work }: RenderedContent): RenderedContent {
  return { content: { ...content, body: '' }, facts: {}, missing: [], failed: 'body', work };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
