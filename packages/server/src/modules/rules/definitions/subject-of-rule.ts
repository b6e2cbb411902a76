import type { Definition } from './rule.ts';

/** An event of a user, with the fields that subjects of rules depend on. Times are in milliseconds. */
export type Occurrence = {
  id: string;
  occurredAt: number;
  acceptedAt: number;
  seq: number;
  properties: Record<string, unknown>;
};

/** Returns the newest occurrence of an event of one user, by the time when it occurred. */
export type Newest = (event: string) => Occurrence | undefined;

/** Returns the current subject of the rule for this user. Null: there is no subject, or an `until` event ended it. */
export function subjectOf({ about }: Pick<Definition, 'about'>, newest: Newest): Occurrence | null {
  if (!about) return null;
  const subject = newest(about.event);
  if (!subject) return null;
  const isOver = about.until.some((event) => (newest(event)?.occurredAt ?? -Infinity) >= subject.occurredAt);
  return isOver ? null : subject;
}

/** Returns the events that have to be looked up before a rule can be decided. */
export function eventsLookedUp({ about, when }: Pick<Definition, 'about' | 'when'>): Set<string> {
  const names = new Set<string>();
  if (about) for (const name of [about.event, ...about.until]) names.add(name);
  for (const trigger of when) if (trigger.kind === 'absence') for (const name of trigger.of) names.add(name);
  return names;
}
