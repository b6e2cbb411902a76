import { iso } from '../../platform/time/clock.ts';
import {
  type LedgerRow,
  listDecisionsOf,
  type ActiveRule,
  findRule,
  listTimersOf,
  type Timer,
  loadProjectModels,
  type Model,
  gatherKnown,
  openDesk,
} from '../rules/index.ts';
import {
  findNewest,
  findPeople,
  type PersonId,
  personKey,
  type Person,
  unknownPerson,
} from '../users/index.ts';
import { readTurn } from '../../platform/locks/project-lock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Mailroom } from '../delivery/index.ts';
import { listAudiencesOf } from './show-person.ts';
import { inSnapshot } from '../../platform/db/session-transactions.ts';
import { type DraftNow, draftsNow } from './drafts-now.ts';
import { type AskedNow, type RuleNow, ruleNow } from './rule-now.ts';
import { findOneFewer } from './one-fewer-event.ts';
import { NOT_CONSIDERED, NOT_CONSIDERED_WORDS, reasonWords } from './reason-sentences.ts';

/** One row of the decision log. For a rule that was never evaluated for this user, a row that was evaluated now. */
export type ExplainedRow = {
  rule: string;
  fired: boolean;
  reason: string;
  detail: Record<string, unknown>;
  at: string;
  sentence: string;
  /** The key of the entry; null for a row without an entry. */
  key: string | null;
  count: number;
  first_at: string | null;
  /** Open drafts of this rule and the send checks that hold them now. Like `now`, only on the newest row of each rule. */
  drafts: DraftNow[];
  /** The decision if the trigger of the rule arrived now. */
  now: RuleNow | null;
};

export type ExplainAsked = PersonId & {
  /** The id or name of a rule; null: all rules. */
  rule: string | null;
};

const ROWS_MAX = 10_000;

/**
 * Explains why emails were drafted for a user, and why not: the rows of the decision log, and what the same functions decide now. Changes
 * nothing.
 */
export function explainPerson(
  { db, mailroom }: { db: Pick<Database, 'session' | 'clock'>; mailroom: Mailroom },
  asked: ExplainAsked,
): Promise<ExplainedRow[]> {
  return inSnapshot(db, async (tx) => {
    const now = db.clock.now();
    const { projectId, userId } = asked;
    const turn = await readTurn(tx, projectId);
    const timers = await listTimersOf(tx, { projectId, userId });
    const model = (await loadProjectModels(tx, [turn], { now, versions: timers })).get(projectId);
    if (!model) throw new Error(`project ${projectId} has no settings`);
    const rules = await rulesAsked(tx, asked, model);
    const [person] = await findPeople(tx, [{ projectId, userId }]);
    if (!person) throw unknownPerson(userId);
    const evaluated = await evaluateAll(tx, rules, { person, model, timers, now, mailroom });
    const ofOne = asked.rule === null ? {} : { ruleId: rules[0]?.id ?? '' };
    const ledger = await listDecisionsOf(tx, { projectId, userId, ...ofOne, limit: ROWS_MAX });
    const names = (ruleId: string): string => model.rules.byId.get(ruleId)?.name ?? ruleId;
    return [
      ...ledgerRows(ledger, { evaluated, names }),
      ...rules
        .filter(({ id }) => !ledger.some(({ ruleId }) => ruleId === id))
        .flatMap((rule) => rowOfNow(rule, evaluated.get(rule.id), now)),
    ];
  });
}

async function rulesAsked(tx: Tx, { projectId, rule }: ExplainAsked, model: Model): Promise<ActiveRule[]> {
  const all = [...model.rules.byId.values()];
  if (rule === null) return all;
  const { id } = await findRule(tx, { projectId, reference: rule });
  return all.filter((one) => one.id === id);
}

type Evaluated = Map<string, { now: RuleNow; drafts: DraftNow[] }>;
type Asking = { person: Person; model: Model; timers: Timer[]; now: number; mailroom: Mailroom };

async function evaluateAll(tx: Tx, rules: ActiveRule[], asking: Asking): Promise<Evaluated> {
  const asked = await gather(tx, rules, asking);
  const { projectId, userId } = asking.person;
  const drafts = await draftsNow(tx, { projectId, userId }, asking);
  return new Map(
    rules.map((rule) => [rule.id, { now: ruleNow(rule, asked), drafts: drafts.get(rule.id) ?? [] }]),
  );
}

/** Reads everything that the rules may need about the user, as the engine does when a record of the user arrives. */
async function gather(tx: Tx, present: ActiveRule[], asking: Asking): Promise<AskedNow> {
  const { person, model, timers, now } = asking;
  const rules = [...present, ...olderVersions(model, timers)];
  const { projectId, userId } = person;
  const happened = { person, model, items: [], isWatched: true };
  const known = await gatherKnown(tx, [{ happened, rules: new Set(rules), isUnderWay: true }], {
    now,
    locks: false,
  });
  const ofPerson = known.get(personKey(person));
  if (!ofPerson) throw new Error('a user was not looked up');
  const names = new Set(rules.flatMap(eventsStarting));
  const seen = await findNewest(
    tx,
    [...names].map((name) => ({ projectId, userId, name })),
  );
  const byName = new Map(seen.map((event) => [event.name, event]));
  const audiences = await listAudiencesOf(tx, { projectId, userId });
  return {
    desk: openDesk({ person, model }, ofPerson, { now, newId: () => '' }),
    lastSeen: (name) => byName.get(name),
    timers,
    memberSince: new Map(audiences.map(({ id, since }) => [id, since])),
    fewer: await findOneFewer(tx, rules, { projectId, userId, now }),
  };
}

/** Returns the older rule versions that set timers. A timer is evaluated by the version that set it. */
function olderVersions({ rules }: Model, timers: Timer[]): ActiveRule[] {
  return timers.flatMap(({ ruleId, version }) => {
    const rule = rules.byId.get(ruleId)?.version === version ? undefined : rules.byVersion(ruleId, version);
    return rule ?? [];
  });
}

function eventsStarting({ definition }: ActiveRule): string[] {
  return definition.when.flatMap((trigger) => {
    if (trigger.kind === 'audience' || trigger.kind === 'date') return [];
    return trigger.kind === 'absence' ? trigger.since : trigger.event;
  });
}

function ledgerRows(
  ledger: LedgerRow[],
  { evaluated, names }: { evaluated: Evaluated; names: (ruleId: string) => string },
): ExplainedRow[] {
  const told = new Set<string>();
  return ledger.map(({ ruleId, key, reason, detail, at, count, firstAt }): ExplainedRow => {
    const ofRule = told.has(ruleId) ? undefined : evaluated.get(ruleId);
    told.add(ruleId);
    return {
      rule: names(ruleId),
      fired: reason === 'fired',
      reason,
      detail,
      at: iso(at),
      sentence: reasonWords(reason, Object.hasOwn(detail, 'draft_id') ? 'draft' : 'rule', detail),
      key,
      count,
      first_at: iso(firstAt),
      drafts: ofRule?.drafts ?? [],
      now: ofRule?.now ?? null,
    };
  });
}

/** Builds the row of a rule without decisions: what the rule waits for, when that was last seen, and what would refuse. */
function rowOfNow(
  { name, enabledAt }: ActiveRule,
  evaluated: { now: RuleNow; drafts: DraftNow[] } | undefined,
  now: number,
): ExplainedRow[] {
  if (!evaluated) return [];
  const isOff = enabledAt === null;
  const { triggers, would_fire, only_if } = evaluated.now;
  return [
    {
      rule: name,
      fired: false,
      reason: isOff ? 'rule_off' : NOT_CONSIDERED,
      detail: { evaluated_now: true, would_fire, triggers, only_if },
      at: iso(now),
      sentence: isOff ? reasonWords('rule_off', 'rule') : NOT_CONSIDERED_WORDS,
      key: null,
      count: 0,
      first_at: null,
      ...evaluated,
    },
  ];
}
