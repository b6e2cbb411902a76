import { type Mentions, mentionsOf, type Predicate } from '../../base/predicate/index.ts';
import { eventsLookedUp } from './about.ts';
import { entersOnce } from './entry.ts';
import { DAY_MS, isOfEach, isTimed } from './moment.ts';
import type { Anchor, Definition, Rule, Step, Trigger } from './rule.ts';

/** A rule as the digest asks it. */
export type ActiveRule = Rule & { definition: Definition; conditions: Conditions };

/** Everything that a version's predicates look at. */
export type Conditions = { predicates: Predicate[]; mentions: Mentions[]; looksUp: Set<string> };

/** One way in which something that happened has a rule considered. */
export type Hook = { rule: ActiveRule; trigger: Trigger; place: number };

/** All rules of a project: what leads to them, and what people who are under way in them wait for. */
export type RuleModel = {
  byId: Map<string, ActiveRule>;
  /** Definitions that somebody is under way in, and the present ones. */
  version(ruleId: string, version: number): VersionInUse | undefined;
  /** The rule as it was in such a version; on or off, in its mode and with its deadline as it is now. */
  byVersion(ruleId: string, version: number): ActiveRule | undefined;
  /** Whether any rule is about a topic. */
  hasTopics: boolean;
  onEvent(name: string): Hook[];
  onMove(audienceId: string, move: 'joined' | 'left'): Hook[];
  onTrait(key: string): Hook[];
  /** Whether an event, a trait, the address or an audience can concern somebody's run. */
  watches: Watched;
};

export type VersionInUse = { definition: Definition; conditions: Conditions };
export type Watched = {
  events: Set<string>;
  traits: Set<string>;
  email: boolean;
  audiences: Set<string>;
};

export type RuleSource = {
  rule: Rule;
  /** The present version, and older ones that somebody is under way in. */
  versions: { version: number; definition: Definition }[];
};

export function buildRuleModel(sources: RuleSource[]): RuleModel {
  const byId = new Map<string, ActiveRule>();
  const versions = new Map<string, VersionInUse>();
  const watches: Watched = { events: new Set(), traits: new Set(), email: false, audiences: new Set() };
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
      const known = versions.get(versionKey(ruleId, version));
      return rule && known && { ...rule, ...known, version };
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

/** All that may be asked about a person while they are considered or under way. */
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

/** Exits and goals end a run as soon as they hold, so whatever they mention is watched. */
function watch(into: Watched, definition: Definition): void {
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

/** Of rules that are off nothing is considered. */
function indexOf(rules: ActiveRule[]): Index {
  const index: Index = { events: new Map(), moves: new Map(), traits: new Map() };
  for (const rule of rules) {
    if (rule.enabledAt === null) continue;
    for (const [place, trigger] of rule.definition.when.entries()) {
      const hook = { rule, trigger, place };
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
  const known = index.get(key);
  if (known) known.push(hook);
  else index.set(key, [hook]);
}

/**
 * The key under which a timer is kept, and which of two anchors under it counts. What is about one thing at a time, or
 * waits for something not to happen, follows the newest. A rule that lets people in once keeps the first of each day: when
 * that one is refused, the next one still comes, and an event that happens all the time sets no more than that.
 */
export function timerPlace(
  { rule, trigger, place }: Pick<Hook, 'trigger' | 'place'> & { rule: Pick<ActiveRule, 'definition'> },
  { anchor, entryKey }: { anchor: Pick<Anchor, 'id' | 'occurredAt'>; entryKey: string },
): { key: string; keepFirst: boolean } {
  if (!isTimed(trigger)) throw new Error('only a trigger with a time has a timer');
  const name = timerName(rule.definition.when, place);
  if (!isOfEach(rule.definition, trigger)) return { key: name, keepFirst: false };
  if (!entersOnce(rule.definition)) return { key: `${name} ${anchor.id}`, keepFirst: false };
  const day = Math.floor(anchor.occurredAt / DAY_MS);
  return { key: `${name} ${day} ${entryKey}`, keepFirst: true };
}

/** By what it looks at and not by its place, which may be another in the next version of the rule. */
function timerName(when: Trigger[], place: number): string {
  const names = when.map((trigger) => {
    if (trigger.kind === 'audience') return '';
    return trigger.kind === 'date' ? `date ${trigger.trait}` : `${trigger.kind} ${eventOf(trigger)}`;
  });
  const name = names[place] ?? '';
  const before = names.slice(0, place).filter((other) => other === name).length;
  return `${before} ${name}`;
}
