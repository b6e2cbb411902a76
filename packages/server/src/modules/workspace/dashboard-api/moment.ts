import { Fault } from '../../../platform/fault.ts';
import { parseInstant } from '../../../platform/time/instant.ts';

/** Parses a time from a path or a body, in milliseconds. */
export function readMoment(text: string, field: string): number {
  const at = parseInstant(text);
  if (!Number.isNaN(at)) return at;
  const message = `${field} must be a time such as 2026-01-31T14:30:00Z`;
  throw new Fault('validation_failed', { details: [{ message, field }] });
}
