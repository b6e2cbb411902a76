import type { Mentions, Predicate } from '../../../platform/predicate/predicate.ts';
import { mentionsOf } from '../../../platform/predicate/mentions.ts';
import { type Anchor, type Definition, eventsLookedUp, type Rule, type Step, type Trigger } from './rule.ts';
import { entersOnce } from './entries.ts';
import { DAY_MS, isOfEach, isTimed } from './timers.ts';

/** A rule prepared for processing. */
export type ActiveRule = Rule & { definition: Definition; conditions: Conditions };

/** Everything that the predicates of a version refer to. */
export type Conditions = { predicates: Predicate[]; mentions: Mentions[]; looksUp: Set<string> };

/** A trigger of a rule, as found by the record that may match it. */
export type Hook = { rule: ActiveRule; trigger: Trigger; position: number };

/** All rules of a project, indexed by their triggers and by what active runs wait for. */
export type RuleModel = {
  byId: Map<string, ActiveRule>;
  /** Returns a definition that is current or that has active runs. */
  version(ruleId: string, version: number): ModelVersion | undefined;
  /** Returns the rule with the definition of this version, and with its current state, mode and deadline. */
  byVersion(ruleId: string, version: number): ActiveRule | undefined;
  /** True if any rule has a topic. */
  hasTopics: boolean;
  onEvent(name: string): Hook[];
  onMove(audienceId: string, move: 'joined' | 'left'): Hook[];
  onTrait(key: string): Hook[];
  /** The events, traits, audiences and address changes that can affect an active run. */
  watches: WatchedFacts;
};

export type ModelVersion = { definition: Definition; conditions: Conditions };
export type WatchedFacts = {
  events: Set<string>;
  traits: Set<string>;
  email: boolean;
  audiences: Set<string>;
};

export type RuleSource = {
  rule: Rule;
  /** The current version, and older versions with active runs. */
  versions: { version: number; definition: Definition }[];
};

export function buildRuleModel(sources: RuleSource[]): RuleModel {
  const byId = new Map<string, ActiveRule>();
  const versions = new Map<string, ModelVersion>();
  const watches: WatchedFacts = { events: new Set(), traits: new Set(), email: false, audiences: new Set() };
  for (const { rule, versions: inUse } of sources) {
    for (const { version, definition } of inUse) {
      const conditions = conditionsOf(definition);
      versions.set(versionKey(rule.id, version), { definition, conditions });
      watch(watches, definition);
      if (version === rule.version) byId.set(rule.id, { ...rule, definition, conditions });
    }
  }
  const index = indexOf([...byId.values()]);
  return {
    byId,
    version: (ruleId, version) => versions.get(versionKey(ruleId, version)),
    byVersion(ruleId, version) {
      const rule = byId.get(ruleId);
      const modelVersion = versions.get(versionKey(ruleId, version));
      return rule && modelVersion && { ...rule, ...modelVersion, version };
    },
    hasTopics: [...byId.values()].some(({ definition }) => definition.topic !== null),
    onEvent: (name) => index.events.get(name) ?? NO_HOOKS,
    onMove: (audienceId, move) => index.moves.get(`${move} ${audienceId}`) ?? NO_HOOKS,
    onTrait: (key) => index.traits.get(key) ?? NO_HOOKS,
    watches,
  };
}

const NO_HOOKS: Hook[] = [];

function versionKey(ruleId: string, version: number): string {
  return `${ruleId} ${version}`;
}

function conditionsOf(definition: Definition): Conditions {
  const predicates = predicatesOf(definition);
  return { predicates, mentions: predicates.map(mentionsOf), looksUp: eventsLookedUp(definition) };
}

/** Returns every predicate that may be evaluated for a user before or during a run. */
function predicatesOf({ onlyIf, exits, goal, steps }: Definition): Predicate[] {
  return [onlyIf, exits.when, goal, ...branchesOf(steps)].filter((predicate) => predicate !== null);
}

function branchesOf(steps: Step[]): Predicate[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'branch' && step.kind !== 'wait_for') return [];
    const inner = [...branchesOf(step.then), ...branchesOf(step.otherwise)];
    return step.kind === 'branch' ? [step.if, ...inner] : inner;
  });
}

/** Exits and goals end a run as soon as they hold, so everything that they mention is watched. */
function watch(into: WatchedFacts, definition: Definition): void {
  const { about, exits, goal, steps } = definition;
  const events = [...exits.events, ...(about ? [about.event] : []), ...waitedFor(steps)];
  for (const name of events) into.events.add(name);
  for (const predicate of [exits.when, goal]) {
    if (!predicate) continue;
    const mentions = mentionsOf(predicate);
    for (const name of mentions.events) into.events.add(name);
    for (const key of mentions.traits) into.traits.add(key);
    for (const id of mentions.audiences) into.audiences.add(id);
    into.email ||= mentions.email;
  }
}

function waitedFor(steps: Step[]): string[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'branch' && step.kind !== 'wait_for') return [];
    const inner = [...waitedFor(step.then), ...waitedFor(step.otherwise)];
    return step.kind === 'wait_for' ? [step.event, ...inner] : inner;
  });
}

type Index = { events: Map<string, Hook[]>; moves: Map<string, Hook[]>; traits: Map<string, Hook[]> };

/** Indexes the triggers of enabled rules. A disabled rule is never evaluated. */
function indexOf(rules: ActiveRule[]): Index {
  const index: Index = { events: new Map(), moves: new Map(), traits: new Map() };
  for (const rule of rules) {
    if (rule.enabledAt === null) continue;
    for (const [position, trigger] of rule.definition.when.entries()) {
      const hook = { rule, trigger, position };
      if (trigger.kind === 'audience') add(index.moves, `${trigger.move} ${trigger.audienceId}`, hook);
      else if (trigger.kind === 'date') add(index.traits, trigger.trait, hook);
      else add(index.events, eventOf(trigger), hook);
    }
  }
  return index;
}

function eventOf(trigger: Exclude<Trigger, { kind: 'audience' | 'date' }>): string {
  return trigger.kind === 'absence' ? trigger.since : trigger.event;
}

function add(index: Map<string, Hook[]>, key: string, hook: Hook): void {
  const hooks = index.get(key);
  if (hooks) hooks.push(hook);
  else index.set(key, [hook]);
}

/**
 * Returns the key of a timer, and which of two anchors with the same key counts. A trigger about one subject at a time, or about the
 * absence of an event, follows the newest anchor. A rule that enrolls each user once keeps the first anchor of each day. If that one is
 * refused, the next day still counts, and a frequent event sets no more timers than one per day.
 */
export function timerKey(
  { rule, trigger, position }: Pick<Hook, 'trigger' | 'position'> & { rule: Pick<ActiveRule, 'definition'> },
  { anchor, entryKey }: { anchor: Pick<Anchor, 'id' | 'occurredAt'>; entryKey: string },
): { key: string; keepFirst: boolean } {
  if (!isTimed(trigger)) throw new Error('only a trigger with a time has a timer');
  const name = timerName(rule.definition.when, position);
  if (!isOfEach(rule.definition, trigger)) return { key: name, keepFirst: false };
  if (!entersOnce(rule.definition)) return { key: `${name} ${anchor.id}`, keepFirst: false };
  const day = Math.floor(anchor.occurredAt / DAY_MS);
  return { key: `${name} ${day} ${entryKey}`, keepFirst: true };
}

/** Names a timer by what its trigger looks at. The position may differ in the next version of the rule. */
function timerName(when: Trigger[], position: number): string {
  const names = when.map((trigger) => {
    if (trigger.kind === 'audience') return '';
    return trigger.kind === 'date' ? `date ${trigger.trait}` : `${trigger.kind} ${eventOf(trigger)}`;
  });
  const name = names[position] ?? '';
  const before = names.slice(0, position).filter((other) => other === name).length;
  return `${before} ${name}`;
}
