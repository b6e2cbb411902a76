/** Reads the parts of a rule's JSON. The form shows the known parts and leaves the rest to the JSON editor. */

import type { RuleDocument } from '@beckon/contract/dashboard';

export type Piece = Record<string, unknown>;

export function pieceOf(value: unknown): Piece {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Piece) : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function piecesOf(value: unknown): Piece[] {
  return Array.isArray(value) ? value.map(pieceOf) : [];
}

/** Sets a field, or removes it if the value is empty. */
export function withField(piece: Piece, field: string, value: unknown): Piece {
  const { [field]: _before, ...rest } = piece;
  const isNothing = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return isNothing ? rest : { ...piece, [field]: value };
}

export type TriggerKind = 'event' | 'audience' | 'relative' | 'date' | 'absence';

export const TRIGGER_LABELS: Record<TriggerKind, string> = {
  event: 'an event happens',
  audience: 'a user joins or leaves an audience',
  relative: 'a time before or after an event',
  date: 'a time before or after a date of the user',
  absence: 'an event does not happen in time',
};

export function triggersOf(document: RuleDocument): Piece[] {
  const { when } = document;
  return Array.isArray(when) ? piecesOf(when) : when === undefined ? [] : [pieceOf(when)];
}

export function withTriggers(document: RuleDocument, triggers: Piece[]): RuleDocument {
  return { ...document, when: triggers };
}

/** Null: only the JSON editor can show it. */
export function triggerKind(trigger: Piece): TriggerKind | null {
  if ('absence_of' in trigger) return 'absence';
  if ('relative_to' in trigger) return 'trait' in pieceOf(trigger['relative_to']) ? 'date' : 'relative';
  if ('audience' in trigger) return 'audience';
  return 'event' in trigger ? 'event' : null;
}

export function newTrigger(kind: TriggerKind, event = ''): Piece {
  switch (kind) {
    case 'event':
      return { event };
    case 'audience':
      return { audience: '', move: 'joined' };
    case 'relative':
      return { relative_to: { event }, after: '3d' };
    case 'date':
      return { relative_to: { trait: '' }, before: '7d' };
    case 'absence':
      return { absence_of: [], since: { event }, for: '3d' };
    default:
      return kind satisfies never;
  }
}

/** The event of a trigger, kept when the trigger's kind changes. */
export function eventOf(trigger: Piece): string {
  return textOf(
    trigger['event'] ?? pieceOf(trigger['relative_to'])['event'] ?? pieceOf(trigger['since'])['event'],
  );
}

/** Before or after, and how long. */
export function distanceOf(trigger: Piece): { side: 'before' | 'after'; span: string } {
  return 'before' in trigger
    ? { side: 'before', span: textOf(trigger['before']) }
    : { side: 'after', span: textOf(trigger['after']) };
}

export function withDistance(trigger: Piece, side: 'before' | 'after', span: string): Piece {
  const { before: _before, after: _after, ...rest } = trigger;
  return { ...rest, [side]: span };
}

export type EntryKind = 'once' | 'one_at_a_time' | 'once_per' | 'about' | 'cooldown';

export const ENTRY_LABELS: Record<EntryKind, string> = {
  once: 'once in total',
  one_at_a_time: 'one run at a time',
  once_per: 'once for each value of …',
  about: 'once for each subject',
  cooldown: 'once in a period',
};

export function entryKind(entry: unknown): EntryKind | null {
  if (entry === undefined || entry === 'once') return 'once';
  if (entry === 'one_at_a_time') return 'one_at_a_time';
  const { once_per: each, cooldown } = pieceOf(entry);
  if (cooldown !== undefined) return 'cooldown';
  if (each === 'about') return 'about';
  return Array.isArray(each) ? 'once_per' : null;
}

export function newEntry(kind: EntryKind): unknown {
  switch (kind) {
    case 'once':
    case 'one_at_a_time':
      return kind;
    case 'once_per':
      return { once_per: [] };
    case 'about':
      return { once_per: 'about', otherwise: '30d' };
    case 'cooldown':
      return { cooldown: '30d' };
    default:
      return kind satisfies never;
  }
}

export type StepKind = 'email' | 'inline' | 'wait' | 'wait_until' | 'wait_for' | 'branch' | 'end';

export const STEP_LABELS: Record<StepKind, string> = {
  email: 'Email from a template',
  inline: 'Email written here',
  wait: 'Wait',
  wait_until: 'Wait until a time of day',
  wait_for: 'Wait for an event',
  branch: 'Branch',
  end: 'End',
};

/** The names of the branches of a step. */
export const BRANCH_LABELS = {
  wait_for: { then: 'If the event happens', else: 'If it does not happen in time' },
  branch: { then: 'If true', else: 'If false' },
} as const;

export function stepKind(step: Piece): StepKind | null {
  if ('draft' in step) return typeof step['draft'] === 'string' ? 'email' : 'inline';
  for (const kind of ['wait', 'wait_until', 'wait_for', 'branch', 'end'] as const)
    if (kind in step) return kind;
  return null;
}

export function newStep(kind: StepKind): Piece {
  switch (kind) {
    case 'email':
      return { draft: '' };
    case 'inline':
      return { draft: { subject: '', body: '' } };
    case 'wait':
      return { wait: '3d' };
    case 'wait_until':
      return { wait_until: { at: '09:00' } };
    case 'wait_for':
      return { wait_for: { event: '', within: '7d' }, then: [], else: [] };
    case 'branch':
      return { branch: { if: { trait: 'plan', equals: '' } }, then: [], else: [] };
    case 'end':
      return { end: true };
    default:
      return kind satisfies never;
  }
}

export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const item = list[from];
  if (item === undefined || to < 0 || to >= list.length) return [...list];
  return list.toSpliced(from, 1).toSpliced(to, 0, item);
}

/** A new rule: one event, one email, and review of each draft. */
export function newRule(event: string | undefined, name: string): RuleDocument {
  return {
    name,
    mode: 'draft',
    when: [{ event: event ?? '' }],
    steps: [{ draft: { subject: '', body: 'Hi {{ user.name | default: "there" }},\n\n' } }],
  };
}

/** The errors of a part of the document, including all parts below it. */
export function faultsBelow(
  faults: readonly { message: string; field?: string }[],
  path: string,
): string | undefined {
  const ownFaults = faults.filter(({ field }) => field === path || field?.startsWith(`${path}.`) === true);
  return ownFaults.length === 0 ? undefined : ownFaults.map(({ message }) => message).join(' ');
}
