import type { Facts, Mentions } from '../../../platform/predicate/predicate.ts';
import { findNewest, type NewestEvent, type PersonId, personKey } from '../../users/index.ts';
import type { ActiveRule, Hook } from '../definitions/model.ts';
import { type EntryRecord, findEntries } from '../definitions/entries.ts';
import { findOpenRuns } from '../runs/reads.ts';
import type { Run } from '../runs/run.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { findConditionFacts } from '../../audiences/index.ts';
import type { PersonSnapshot } from './context.ts';
import type { PersonActivity, Item } from './trigger-events.ts';

/** The rules to evaluate for one user, each once, and whether the user has an open run. */
export type AffectedPerson = { activity: PersonActivity; rules: Set<ActiveRule>; hasOpenRun: boolean };

/**
 * Reads everything that the rules may need about these users, in set-based queries: open runs, entries, newest events, and what conditions
 * mention. Returns it by `personKey`. `locks`: locks the runs, for callers that change them.
 */
export async function loadSnapshots(
  tx: Tx,
  affected: AffectedPerson[],
  { now, locks }: { now: number; locks: boolean },
): Promise<Map<string, PersonSnapshot>> {
  const people = affected.filter(({ hasOpenRun }) => hasOpenRun).map(({ activity }) => idOf(activity));
  const [runs, entries, newest] = await Promise.all([
    findOpenRuns(tx, people, { goals: now, locks }),
    findEntries(tx, entryKeys(affected)),
    findNewest(tx, eventKeys(affected)),
  ]);
  const runsOf = Map.groupBy(runs, personKey);
  const facts = await findConditionFacts(tx, conditionsOf(affected, runsOf), now);
  const entriesOf = Map.groupBy(entries, personKey);
  const newestOf = Map.groupBy(newest, personKey);
  return new Map(
    affected.map(({ activity }) => {
      const key = personKey(activity.person);
      const rows = { runs: runsOf.get(key), entries: entriesOf.get(key), newest: newestOf.get(key) };
      return [key, snapshotOf(rows, facts.get(key) ?? emptyFacts(now))];
    }),
  );
}

type SnapshotRows = {
  runs: Run[] | undefined;
  entries: EntryRecord[] | undefined;
  newest: NewestEvent[] | undefined;
};

function snapshotOf({ runs = [], entries = [], newest = [] }: SnapshotRows, facts: Facts): PersonSnapshot {
  const byName = new Map(newest.map((event) => [event.name, event]));
  const byKey = new Map(entries.map((entry) => [`${entry.ruleId} ${entry.key}`, entry]));
  return {
    facts,
    runs,
    newest: (event) => byName.get(event),
    entry: (ruleId, key) => byKey.get(`${ruleId} ${key}`),
  };
}

/** Returns the facts of a user if no condition needs any. */
function emptyFacts(now: number): Facts {
  return {
    now,
    email: null,
    trait: () => undefined,
    total: () => undefined,
    nth: () => null,
    sum: () => ({ sum: 0, oldestAt: null }),
    isMember: () => false,
  };
}

/** Returns the rule triggers that an item matches. */
export function hooksOf({ model }: Pick<PersonActivity, 'model'>, item: Item): Hook[] {
  switch (item.kind) {
    case 'event':
      return model.rules.onEvent(item.event.name);
    case 'move':
      return model.rules.onMove(item.audienceId, item.move);
    case 'trait':
      return model.rules.onTrait(item.trait);
    case 'timer': {
      const { ruleId, version, position } = item.timer;
      const rule = model.rules.byVersion(ruleId, version);
      const trigger = rule?.definition.when[position];
      return rule && trigger ? [{ rule, trigger, position }] : [];
    }
    case 'enrollment':
      return model.rules
        .onMove(item.audienceId, 'joined')
        .filter(({ rule }) => rule.id === item.ruleId)
        .slice(0, 1);
    case 'run':
      return [];
    default:
      return item satisfies never;
  }
}

function idOf({ person }: PersonActivity): PersonId {
  return { projectId: person.projectId, userId: person.userId };
}

function entryKeys(affected: AffectedPerson[]): (PersonId & { ruleId: string })[] {
  return affected.flatMap(({ activity, rules }) =>
    [...rules]
      .filter(({ definition }) => definition.entry.kind !== 'one_at_a_time')
      .map(({ id }) => ({ ...idOf(activity), ruleId: id })),
  );
}

function eventKeys(affected: AffectedPerson[]): (PersonId & { name: string })[] {
  return affected.flatMap(({ activity, rules }) => {
    const names = new Set([...rules].flatMap(({ conditions }) => [...conditions.looksUp]));
    return [...names].map((name) => ({ ...idOf(activity), name }));
  });
}

function conditionsOf(
  affected: AffectedPerson[],
  runsOf: Map<string, Run[]>,
): Parameters<typeof findConditionFacts>[1] {
  return affected.flatMap(({ activity: { person, model }, rules }) => {
    const mentions = new Set<Mentions>([...rules].flatMap(({ conditions }) => conditions.mentions));
    for (const { ruleId, version } of runsOf.get(personKey(person)) ?? [])
      for (const mention of model.rules.version(ruleId, version)?.conditions.mentions ?? [])
        mentions.add(mention);
    if (mentions.size === 0) return [];
    return [{ person, mentions, audiences: model.audiences, counted: model.counted }];
  });
}
