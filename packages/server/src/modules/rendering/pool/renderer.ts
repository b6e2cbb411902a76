import { renderedEmail, type EmailToRender, type RenderTasks } from './tasks.ts';
import { Fault } from '../../../platform/fault.ts';
import {
  createWorkerPool,
  type TaskOptions,
  TaskStopped,
  type WorkerPool,
} from '../../../platform/threads/worker-pool.ts';

type Name = keyof RenderTasks;

/**
 * Renders and checks emails within bounds. Beyond them it throws a `validation_failed` that names the body; when too many
 * wait, a `server_error` with the time after which to try again.
 */
export type Renderer = {
  run<N extends Name>(
    name: N,
    input: Parameters<RenderTasks[N]>[0],
    of: RenderedFor,
  ): Promise<Awaited<ReturnType<RenderTasks[N]>>>;
  close(): Promise<void>;
};

/** `isSending`: the sender has a queue of its own, so that previews do not delay emails. */
export type RenderedFor = { projectId: number; isSending?: boolean };

const THREADS_MAX = 2;
const THREAD_MEMORY_MB = 256;
const QUEUE_MAX = 1_000;
/** As many as for heavy requests of one project. */
const QUEUE_MAX_PER_PROJECT = 20;
const BUSY_RETRY_S = 5;

const RENDER_WITHIN_MS = 2_000;
/** The MJML compiler takes a second to load; a raw email may have megabytes. */
const WITHIN_MS: Partial<Record<Name, number>> = { publishable: 10_000, checkMail: 10_000, readMail: 10_000 };

export type RendererOptions = {
  pool?: WorkerPool<RenderTasks>;
  /** Null: each task has its own deadline. */
  deadlineMs?: number | null;
  /** Measures the renders in this thread. */
  nowMs?: () => number;
};

export function createRenderer({
  pool = openPool(),
  deadlineMs = null,
  nowMs = () => performance.now(),
}: RendererOptions = {}): Renderer {
  const slices = createTimeSlices(nowMs);
  async function run(name: Name, input: never, of: RenderedFor): Promise<unknown> {
    if (name === 'email' && isQuick(input)) return slices.run(() => renderedEmail(input));
    const withinMs = deadlineMs ?? WITHIN_MS[name] ?? RENDER_WITHIN_MS;
    try {
      return await pool.run(name, input, runningOf(of, withinMs));
    } catch (error) {
      throw error instanceof TaskStopped ? faultOf(error, withinMs) : error;
    }
  }
  return { run: run as Renderer['run'], close: () => pool.close() };
}

function runningOf({ projectId, isSending = false }: RenderedFor, deadlineMs: number): TaskOptions {
  return isSending
    ? { key: `send ${projectId}`, deadlineMs }
    : { key: String(projectId), deadlineMs, slotsPerKey: QUEUE_MAX_PER_PROJECT };
}

function openPool(): WorkerPool<RenderTasks> {
  return createWorkerPool<RenderTasks>({
    url: new URL('thread.ts', import.meta.url),
    threadsMax: THREADS_MAX,
    memoryMb: THREAD_MEMORY_MB,
    slots: QUEUE_MAX,
  });
}

const QUICK_MARKDOWN_MAX_CHARS = 8_000;
const QUICK_PAGE_MAX_CHARS = 60_000;
const QUICK_TAGS_MAX = 2_500;
/** `|` makes tables, which may grow to 65,000 cells. `[` opens links and images, and thousands of them take 30 ms. */
const QUICK_SIGNS = ['|', '['];
const QUICK_SIGNS_MAX = 500;
/** Makes references, which write a long address at each use. */
const REFERENCE = ']:';

/**
 * Most emails are small, and a message to a thread costs as much as rendering one. Markdown takes the square of its length at
 * worst, and a page grows with its tags. Markdown with many tables or links, or with references, is not quick.
 */
export function isQuick({ content: { body, format } }: EmailToRender): boolean {
  if (format === 'markdown')
    return (
      body.length <= QUICK_MARKDOWN_MAX_CHARS &&
      !body.includes(REFERENCE) &&
      QUICK_SIGNS.every((sign) => countAtMost(body, sign, QUICK_SIGNS_MAX) <= QUICK_SIGNS_MAX)
    );
  return body.length <= QUICK_PAGE_MAX_CHARS && countAtMost(body, '<', QUICK_TAGS_MAX) <= QUICK_TAGS_MAX;
}

/** Stops counting above `most`. */
function countAtMost(text: string, sign: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(sign); at !== -1 && count <= most; at = text.indexOf(sign, at + 1)) count += 1;
  return count;
}

/** Returns true if rendering itself exceeded its bounds, and would again. Either a thread was stopped, or the email is too large. */
export function isRenderFailure(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  return error.cause instanceof TaskStopped ? error.cause.isForGood : error.code === 'validation_failed';
}

function faultOf(stopped: TaskStopped, withinMs: number): Fault {
  if (!stopped.isForGood) return new Fault('server_error', { retryAfterS: BUSY_RETRY_S, cause: stopped });
  const what = {
    deadline: `takes more than ${withinMs / 1_000} s`,
    memory: 'takes too much memory',
    crashed: 'failed',
  }[stopped.reason as 'deadline' | 'memory' | 'crashed'];
  const message = `Rendering this email ${what}. Simplify its Markdown or HTML, such as nested blocks, links and tables.`;
  return new Fault('validation_failed', { details: [{ message, field: 'body' }], cause: stopped });
}

/** Runs short synchronous tasks in order. After 10 ms of them in one turn of the event loop, the next one waits for another turn. */
type TimeSlices = { run<T>(task: () => T): Promise<T> };

const SLICE_MS = 10;

export function createTimeSlices(nowMs: () => number): TimeSlices {
  const waiting: (() => void)[] = [];
  let usedMs = 0;
  let isImmediateSet = false;

  function runWaiting(): void {
    while (usedMs < SLICE_MS) {
      const task = waiting.shift();
      if (!task) return;
      const startedAt = nowMs();
      task();
      usedMs += nowMs() - startedAt;
    }
  }

  /** Timers and sockets run before an immediate that was set in this turn. */
  function planImmediate(): void {
    if (isImmediateSet) return;
    isImmediateSet = true;
    setImmediate(() => {
      isImmediateSet = false;
      usedMs = 0;
      if (waiting.length === 0) return;
      runWaiting();
      planImmediate();
    });
  }

  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(task());
          } catch (error) {
            reject(error);
          }
        });
        runWaiting();
        planImmediate();
      }),
  };
}
