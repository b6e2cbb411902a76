import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Failure, unauthorised } from '../failure.ts';
import { unreachable } from './refusal.ts';

/**
 * A feed of server-sent events that is followed for as long as somebody listens: a connection that is lost is opened again behind
 * the last event that was taken care of, and before there was one, where the server said that it began. The first one has to succeed, so that a wrong address is told at once.
 */
export type FeedOptions = {
  open(headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
  signal: AbortSignal;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Where to begin; now, where left out. */
  lastEventId?: string;
  onOpen(): Promise<void>;
  onLost(why: string): Promise<void>;
  onBack(): Promise<void>;
  onGap(): Promise<void>;
};

export type FeedEvent = { id: string; data: string };

/** The server says something at least each 15 s; whoever is silent for three times as long is gone. */
const SILENT_MAX_MS = 45_000;
const RETRY_MS = { first: 500, most: 30_000 };
const PLACE = /^place (\S+)$/;
const EVENT_MAX_CHARS = 4 * 1024 * 1024;

export async function* followFeed(options: FeedOptions): AsyncGenerator<FeedEvent, void> {
  const { signal } = options;
  const going = { place: options.lastEventId ?? '', isFirst: true, failures: 0 };
  while (!signal.aborted) {
    try {
      yield* followOnce(options, going);
      await options.onLost('the connection was closed');
    } catch (error) {
      if (signal.aborted) return;
      if (going.isFirst || isFinal(error))
        throw error instanceof Failure ? error : unreachable('the feed', error);
      if (going.failures === 0) await options.onLost(whyLost(error));
    }
    going.failures += 1;
    await pause(options, going.failures);
  }
}

type Going = { place: string; isFirst: boolean; failures: number };

async function* followOnce(options: FeedOptions, going: Going): AsyncGenerator<FeedEvent, void> {
  const silence = watchSilence(options.signal);
  try {
    const headers = going.place === '' ? {} : { 'last-event-id': going.place };
    const answer = await options.open({ accept: 'text/event-stream', ...headers }, silence.signal);
    if (going.isFirst) await options.onOpen();
    // A server of an earlier release does not say where it began: it begins anew.
    else await (going.place === '' ? options.onGap() : options.onBack());
    [going.isFirst, going.failures] = [false, 0];
    for await (const { event, id, data } of eventsOf(answer, { silence, going })) {
      if (event === 'gap') await options.onGap();
      else if (event === 'end') endOf(data);
      else {
        yield { id: id ?? '', data };
        // Whoever took it has dealt with it by now: it need not come again.
        going.place = id ?? going.place;
      }
    }
  } finally {
    silence.end();
  }
}

/** Counted while something is waited for, and not while what came is dealt with. */
type Silence = { signal: AbortSignal; waits(): void; rests(): void; end(): void };

function watchSilence(signal: AbortSignal): Silence {
  const silent = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const rests = (): void => clearTimeout(timer);
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    waits() {
      rests();
      timer = setTimeout(() => silent.abort(new Error('nothing was heard for 45 s')), SILENT_MAX_MS);
    },
    rests,
    end() {
      rests();
      // Whoever stops following in the middle lets go of the connection.
      silent.abort();
    },
  };
}

async function* eventsOf(
  { body }: Response,
  { silence, going }: { silence: Silence; going: Going },
): AsyncGenerator<EventSourceMessage, void> {
  if (body === null) return;
  let waiting: EventSourceMessage[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: EVENT_MAX_CHARS,
    onEvent: (event) => waiting.push(event),
    onComment: (said) => (going.place = PLACE.exec(said)?.[1] ?? going.place),
    onError: ({ type }) => (isTooLarge ||= type === 'max-buffer-size-exceeded'),
  });
  const decoder = new TextDecoder();
  silence.waits();
  for await (const chunk of body) {
    silence.rests();
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (isTooLarge) throw new Failure('too_large', 'The feed sent an event that has no end');
    const events = waiting;
    waiting = [];
    yield* events;
    silence.waits();
  }
}

/** Why the server ends a feed; only who is to come back does. */
function endOf(data: string): void {
  const { reason } = JSON.parse(data) as { reason?: unknown };
  if (reason === 'signed_out')
    throw unauthorised('session_required', 'The token does not open this any more: run beckon login');
  if (reason === 'too_many')
    throw new Failure('too_many', 'Too many feeds are open with this token; this one was the oldest');
}

/** A refusal does not become another one by asking again; a server that fails does. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Failure)) return false;
  return !PASSING.has(error.code);
}

const PASSING = new Set(['unreachable', 'timeout', 'server_error', 'rate_limited', 'unexpected_answer']);

function whyLost(error: unknown): string {
  return error instanceof Error ? error.message : 'the connection was lost';
}

/** Longer each time, and not at the same moment as everybody else. */
async function pause({ wait, signal }: FeedOptions, failures: number): Promise<void> {
  const most = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(failures, 10));
  // Whoever ends it meanwhile is heard by the loop.
  await wait(most / 2 + Math.random() * (most / 2), signal).catch(() => {});
}
