import type { Definition } from './rule.ts';

/** An event of a person, as far as it says what a rule is about. Moments are milliseconds. */
export type Occurrence = {
  id: string;
  occurredAt: number;
  acceptedAt: number;
  seq: number;
  properties: Record<string, unknown>;
};

/** The newest occurrence of each event of one person, by when it occurred. */
export type Newest = (event: string) => Occurrence | undefined;

/** What the rule is about for this person now; null where there is nothing, or it is over. */
export function subjectOf({ about }: Pick<Definition, 'about'>, newest: Newest): Occurrence | null {
  if (!about) return null;
  const subject = newest(about.event);
  if (!subject) return null;
  const isOver = about.until.some((event) => (newest(event)?.occurredAt ?? -Infinity) >= subject.occurredAt);
  return isOver ? null : subject;
}

/** The events that have to be looked up before a rule can be decided. */
export function eventsLookedUp({ about, when }: Pick<Definition, 'about' | 'when'>): Set<string> {
  const names = new Set<string>();
  if (about) for (const name of [about.event, ...about.until]) names.add(name);
  for (const trigger of when) if (trigger.kind === 'absence') for (const name of trigger.of) names.add(name);
  return names;
}
