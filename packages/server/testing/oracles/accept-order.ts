/**
 * Applies accepted records one by one in the order of acceptance, as the contract says. It is the plainest form of what processing does in
 * batches, over two priorities and in any order.
 */

export type Priority = 'live' | 'bulk';
export type User = { external_user_id: string; email?: string; traits?: Record<string, unknown> };
export type Event = {
  external_user_id: string;
  name: string;
  properties: Record<string, unknown>;
  message_id?: string;
  occurred_at?: string;
  suppress?: true;
};
export type AcceptedRecord = { seq: number; priority: Priority; record: User | Event };

export type ExpectedPerson = {
  traits: Map<string, unknown>;
  email: string | null;
  suppressedSeq: number;
  normal: number[];
  events: number;
};

export function modelOf(accepted: AcceptedRecord[]): Map<string, ExpectedPerson> {
  const people = new Map<string, ExpectedPerson>();
  const seen = new Set<string>();
  for (const { seq, priority: of, record } of accepted) {
    const key = 'name' in record ? copyKey(record, of) : null;
    if (key !== null && seen.has(key)) continue;
    if (key !== null) seen.add(key);
    const id = record.external_user_id;
    const person: ExpectedPerson = people.get(id) ?? {
      traits: new Map(),
      email: null,
      suppressedSeq: 0,
      normal: [],
      events: 0,
    };
    people.set(id, person);
    if ('name' in record) {
      person.events += 1;
      if (record.suppress) person.suppressedSeq = seq;
      else person.normal.push(seq);
    } else merge(person, record);
  }
  return people;
}

function merge(person: ExpectedPerson, user: User): void {
  for (const [trait, sent] of Object.entries(user.traits ?? {})) {
    if (sent === null) person.traits.delete(trait);
    else person.traits.set(trait, sent);
  }
  person.email = user.email ?? person.email;
}

function copyKey(event: Event, of: Priority): string | null {
  if (event.message_id !== undefined) return event.message_id;
  if (event.occurred_at === undefined && of === 'live') return null;
  return JSON.stringify([event.external_user_id, event.name, event.occurred_at, event.properties]);
}
