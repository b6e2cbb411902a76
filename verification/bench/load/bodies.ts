import type { BodySpec } from './plan.ts';

/** Placeholders in a body that every request fills with new values of the same length, so the length never changes. */
export const USER_MARK = '{{user}}';
export const ID_MARK = '{{id}}';

const EVENT = `{"external_user_id":"${USER_MARK}","name":"feature_used","properties":{"feature":"export","count":3}}`;
const USER =
  `{"external_user_id":"${USER_MARK}","email":"${USER_MARK}@example.com",` +
  `"traits":{"firstName":"Ada","plan":"pro","seats":5}}`;

export function bodyTemplate(spec: BodySpec): { text: string; records: number } {
  switch (spec.kind) {
    case 'event':
      return { text: EVENT, records: 1 };
    case 'user':
      return { text: USER, records: 1 };
    case 'batch':
    case 'bulk-events':
      return { text: `{"events":[${repeat(EVENT, spec.records)}]}`, records: spec.records };
    case 'bulk-users':
      return { text: `{"users":[${repeat(USER, spec.records)}]}`, records: spec.records };
    case 'text':
      return { text: spec.text, records: 1 };
  }
}

function repeat(record: string, times: number): string {
  return Array.from({ length: times }, () => record).join(',');
}
