import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Failure, unauthorized } from '../failure.ts';
import { unreachable } from './refusal.ts';

export type FeedOptions = {
  open(headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
  signal: AbortSignal;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The event to continue after; default: now. */
  lastEventId?: string | undefined;
  note: (text: string) => Promise<void>;
  /** The note once the feed is open, and the one when events may be missing. */
  onOpen: string;
  onGap: string;
};

/** The server sends at least one comment every 15 s; after three times as long the connection counts as lost. */
const SILENT_MAX_MS = 45_000;
const RETRY_MS = { first: 500, most: 30_000 };
const PLACE = /^place (\S+)$/;
const EVENT_MAX_CHARS = 4 * 1024 * 1024;

/**
 * Follows a feed of server-sent events until the signal is aborted, and yields their data. A lost connection is reopened
 * after the last event that was handled, or where the server said that the feed begins. The first connection must
 * succeed, so that a wrong address is reported immediately.
 */
export async function* followFeed(options: FeedOptions): AsyncGenerator<string, void> {
  const { signal } = options;
  const state = { position: options.lastEventId ?? '', isFirst: true, failures: 0 };
  while (!signal.aborted) {
    try {
      yield* followOnce(options, state);
      await reportLost(options, 'the connection was closed');
    } catch (error) {
      if (signal.aborted) return;
      if (state.isFirst || isFinal(error))
        throw error instanceof Failure ? error : unreachable('the feed', error);
      if (state.failures === 0)
        await reportLost(options, error instanceof Error ? error.message : 'the connection was lost');
    }
    state.failures += 1;
    await pause(options, state.failures);
  }
}

type StreamState = { position: string; isFirst: boolean; failures: number };

async function* followOnce(options: FeedOptions, state: StreamState): AsyncGenerator<string, void> {
  const silence = watchSilence(options.signal);
  try {
    const headers = state.position === '' ? {} : { 'last-event-id': state.position };
    const response = await options.open({ accept: 'text/event-stream', ...headers }, silence.signal);
    if (state.isFirst) await options.note(options.onOpen);
    else await options.note(state.position === '' ? options.onGap : 'Reconnected.');
    [state.isFirst, state.failures] = [false, 0];
    for await (const { event, id, data } of eventsOf(response, { silence, state })) {
      if (event === 'gap') await options.note(options.onGap);
      else if (event === 'end') endOf(data);
      else {
        yield data;
        // The consumer has handled the event at this point, so it need not be sent again.
        state.position = id ?? state.position;
      }
    }
  } finally {
    silence.end();
  }
}

/** Measures silence while waiting for the server, not while an event is handled. */
type Silence = { signal: AbortSignal; waits(): void; rests(): void; end(): void };

function watchSilence(signal: AbortSignal): Silence {
  const silent = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const rests = (): void => clearTimeout(timer);
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    waits() {
      rests();
      timer = setTimeout(() => silent.abort(new Error('no data for 45 s')), SILENT_MAX_MS);
    },
    rests,
    end() {
      rests();
      // Closes the connection when the consumer stops early.
      silent.abort();
    },
  };
}

async function* eventsOf(
  { body }: Response,
  { silence, state }: { silence: Silence; state: StreamState },
): AsyncGenerator<EventSourceMessage, void> {
  if (body === null) return;
  let waiting: EventSourceMessage[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: EVENT_MAX_CHARS,
    onEvent: (event) => waiting.push(event),
    onComment: (comment) => (state.position = PLACE.exec(comment)?.[1] ?? state.position),
    onError: ({ type }) => (isTooLarge ||= type === 'max-buffer-size-exceeded'),
  });
  const decoder = new TextDecoder();
  silence.waits();
  for await (const chunk of body) {
    silence.rests();
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (isTooLarge) throw new Failure('too_large', 'The feed sent an event larger than 4 MiB');
    const events = waiting;
    waiting = [];
    yield* events;
    silence.waits();
  }
}

/** The server says why it ends a feed. Only some reasons allow a reconnect. */
function endOf(data: string): void {
  const { reason } = JSON.parse(data) as { reason?: unknown };
  if (reason === 'signed_out')
    throw unauthorized('session_required', 'The token is no longer valid. Run: beckon login');
  if (reason === 'too_many')
    throw new Failure('too_many', 'Too many feeds are open with this token. The oldest one was closed.');
}

/** A rejection is final; a failing server may recover. */
function isFinal(error: unknown): boolean {
  return error instanceof Failure && !PASSING.has(error.code);
}

const PASSING = new Set(['unreachable', 'timeout', 'server_error', 'rate_limited', 'unexpected_answer']);

function reportLost({ note }: FeedOptions, why: string): Promise<void> {
  return note(`Connection lost (${why}). Reconnecting …`);
}

/** Exponential backoff with jitter. */
async function pause({ wait, signal }: FeedOptions, failures: number): Promise<void> {
  const most = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(failures, 10));
  // The loop checks the signal.
  await wait(most / 2 + Math.random() * (most / 2), signal).catch(() => {});
}
