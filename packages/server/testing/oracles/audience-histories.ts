import fc from 'fast-check';
import type { JsonObject, JsonValue } from '@beckon/contract';
import type { IngestPriority } from '../../src/modules/ingest/queue/chunk.ts';

/**
 * Generates random histories of a project's audiences. Users, event names, spans and definitions are few, so that they often coincide. An
 * audience is named by its slot; `{ audience: 3 }` in a definition means the one at that slot.
 */
const MINUTE_MS = 60_000;
const SLOTS = 6;

export type SentUser = {
  userId: string;
  email: string | null;
  /** Null removes it. Undefined leaves it unchanged. */
  plan: string | null | undefined;
  /** The trait `when`, as a distance before the time of sending. */
  whenAgoMs: number | null;
};
export type SentEvent = {
  userId: string;
  name: string;
  properties: JsonObject;
  /** Null: the event has no time of occurrence. */
  agoMs: number | null;
};
/** `worker`: each of two processes has its own cache of the definitions. */
export type Step =
  | { do: 'users'; priority: IngestPriority; users: SentUser[] }
  | { do: 'events'; priority: IngestPriority; events: SentEvent[] }
  | { do: 'process'; priority: IngestPriority; records: number; worker: number }
  | { do: 'wait'; ms: number; isCompared: boolean }
  | { do: 'build'; steps: number; pick: number; worker: number }
  /** Finishes all builds, so that later steps find audiences that are ready. */
  | { do: 'finish' }
  | { do: 'define'; slot: number; definition: JsonObject }
  | { do: 'drop'; slot: number }
  | { do: 'erase'; userId: string };

/** Includes an id beyond ASCII, and ids whose order differs between UTF-16 and UTF-8. */
const userId = fc.constantFrom('ada', 'bob', 'cyd', 'dan', 'é', '\u{FFFD}', '😀');
const priority = fc.constantFrom<IngestPriority>('live', 'live', 'bulk');
const worker = fc.nat(1);
const slot = fc.nat(SLOTS - 1);
const eventName = fc.constantFrom('login', 'pay');
const span = fc.constantFrom('30m', '1h', '2h');
/** At the edges of the spans, and on either side of them. */
const agoMs = fc.constantFrom(0, 1, 10, 29, 30, 31, 59, 60, 61, 119, 120, 121).map((n) => n * MINUTE_MS);

const within = fc.option(span).map((text): JsonObject => (text === null ? {} : { within: text }));
const countsOfAll = fc
  .tuple(eventName, fc.constantFrom('at_most', 'exactly', 'at_least'), fc.integer({ min: 0, max: 3 }), within)
  // A condition that is always true is rejected by the parser.
  .filter(([, compare, count]) => compare !== 'at_least' || count > 0)
  .map(([event, compare, count, window]): JsonObject => ({ event, [compare]: count, ...window }));
const boundedCounts = fc
  .tuple(eventName, fc.constantFrom('at_most', 'at_least'), fc.integer({ min: 1, max: 2 }), span)
  .map(([event, compare, count, text]): JsonObject => ({
    event,
    [compare]: count,
    within: text,
    where: [{ property: 'kind', equals: 'x' }],
  }));
const sums = fc
  .tuple(
    fc.constantFrom('at_least', 'at_most', 'greater_than', 'less_than'),
    fc.constantFrom(-2, 0, 1, 3),
    span,
  )
  .map(([compare, than, text]): JsonObject => ({
    event: 'pay',
    sum: 'amount',
    [compare]: than,
    within: text,
  }));
const edges = fc
  .tuple(eventName, fc.constantFrom('first', 'last'), fc.constantFrom('in_last', 'more_than_ago'), span)
  .map(([event, edge, op, text]): JsonObject => ({ event, [edge]: { [op]: text } }));
const moments = fc
  .tuple(fc.constantFrom('in_last', 'more_than_ago', 'in_next', 'more_than_ahead'), span)
  .map(([op, text]): JsonObject => ({ trait: 'when', [op]: text }));
const traits = fc.constantFrom<JsonObject>(
  { trait: 'plan', equals: 'free' },
  { trait: 'plan', equals: 'pro' },
  { trait: 'plan', is_set: true },
  { user: 'email', ends_with: 'x.org' },
);
const condition = fc.oneof(traits, moments, countsOfAll, countsOfAll, boundedCounts, sums, edges, {
  weight: 2,
  arbitrary: slot.map((audience): JsonObject => ({ audience })),
});
const either = fc.oneof(
  condition,
  condition.map((of): JsonObject => ({ not: of })),
);
const definition = fc.oneof(
  either,
  fc
    .tuple(fc.constantFrom('all', 'any'), fc.array(either, { minLength: 1, maxLength: 3 }))
    .map(([kind, of]): JsonObject => ({ [kind]: of })),
);

const user: fc.Arbitrary<SentUser> = fc.record({
  userId,
  email: fc.constantFrom(null, 'q@x.org', 'q@y.org'),
  plan: fc.constantFrom('free', 'pro', null, undefined),
  whenAgoMs: fc.option(fc.oneof(agoMs, fc.constantFrom(-30 * MINUTE_MS, -60 * MINUTE_MS))),
});
const event: fc.Arbitrary<SentEvent> = fc.record({
  userId,
  name: eventName,
  properties: fc.record({
    kind: fc.constantFrom('x', 'y'),
    amount: fc.constantFrom<JsonValue>(1, 2, -1, -3, 0.5, 'n'),
  }),
  agoMs: fc.option(agoMs),
});
const listSize = { minLength: 1, maxLength: 4 };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('users'), priority, users: fc.array(user, listSize) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('events'), priority, events: fc.array(event, listSize) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('process'),
      priority,
      records: fc.integer({ min: 1, max: 6 }),
      worker,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait'),
      ms: fc.oneof(
        fc.constant(1),
        fc.constantFrom(10, 29, 30, 60).map((n) => n * MINUTE_MS),
      ),
      isCompared: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('build'),
      steps: fc.integer({ min: 1, max: 8 }),
      pick: fc.nat(SLOTS),
      worker,
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'finish' }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('define'), slot, definition }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop'), slot }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase'), userId }) },
);

export const audienceHistories = fc.array(step, { minLength: 10, maxLength: 45, size: 'max' });

/** Replaces slots by the ids of their audiences. A slot without an audience becomes a condition on a trait. */
export function withIds(definition: JsonValue, ids: ReadonlyMap<number, string>): JsonValue {
  if (Array.isArray(definition)) return definition.map((item) => withIds(item, ids));
  if (typeof definition !== 'object' || definition === null) return definition;
  if (typeof definition['audience'] === 'number') {
    const id = ids.get(definition['audience']);
    return id === undefined ? { trait: 'plan', equals: 'pro' } : { audience: id };
  }
  return Object.fromEntries(Object.entries(definition).map(([key, value]) => [key, withIds(value, ids)]));
}
