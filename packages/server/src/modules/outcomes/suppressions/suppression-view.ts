import type {
  SuppressionListed,
  SuppressionRecipient,
  TopicUnsubscribeListed,
} from '@beckon/contract/dashboard';
import { badCursor, type CsvColumns } from '../../workspace/index.ts';
import { normaliseAddress } from '../../../platform/net/address.ts';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import { isEmail } from '../../../platform/records/email.ts';
import { isStorable } from '../../users/index.ts';
import type { ClearTarget, SuppressedKind } from '../../sending/index.ts';
import type { TopicUnsubscribe } from './topics.ts';
import { isAboutAddress, isHashed, type StoredSuppression } from './entries.ts';

export function listedSuppression(
  { kind, value, reason, until, createdAt, createdBy, fromErased = false }: StoredSuppression,
  names: ReadonlyMap<string, string>,
  now: number,
): SuppressionListed {
  return {
    ...listedSubject(kind, value),
    from_erased: fromErased,
    reason,
    until: isoOrNull(until),
    in_force: until === null || until > now,
    created_at: iso(createdAt),
    created_by: createdBy,
    created_by_name: names.get(createdBy) ?? createdBy,
  };
}

/** The columns of the list in its CSV. */
export const CSV_COLUMNS: CsvColumns<SuppressionListed> = {
  kind: ({ kind }) => kind,
  value: ({ value }) => value,
  hash: ({ hash }) => hash,
  from_erased: ({ from_erased: isErased }) => isErased,
  reason: ({ reason }) => reason,
  in_force: ({ in_force: isInForce }) => isInForce,
  since: ({ created_at: at }) => at,
  until: ({ until }) => until,
  by: ({ created_by_name: name }) => name,
};

export const TOPIC_CSV_COLUMNS: CsvColumns<TopicUnsubscribeListed> = {
  kind: ({ kind }) => kind,
  value: ({ value }) => value,
  hash: ({ hash }) => hash,
  topic: ({ topic }) => topic,
  since: ({ created_at: at }) => at,
};

export function listedRefusal({ kind, value, topic, createdAt }: TopicUnsubscribe): TopicUnsubscribeListed {
  return { ...listedSubject(kind, value), topic, created_at: createdAt.toISOString() };
}

/** An erased user's address or id is unknown, so a row shows its hash instead. */
function listedSubject(
  kind: SuppressedKind,
  value: string,
): Pick<SuppressionListed, 'kind' | 'value' | 'hash'> {
  const hash = isHashed(kind) ? value : null;
  return { kind: listedKind(kind), value: hash === null ? value : null, hash };
}

/** The interface says user for a `Person` of the code. */
export function listedKind(kind: SuppressedKind): 'email' | 'user' {
  return isAboutAddress(kind) ? 'email' : 'user';
}

/** Reads the kind in a cursor. */
export function readKind(text: string): SuppressedKind {
  if (text === 'email' || text === 'user' || text === 'email_hash' || text === 'user_hash') return text;
  throw badCursor();
}

/** Reads the target of a request: one address, or one user. */
export function readTarget(projectId: number, { email, user }: SuppressionRecipient): ClearTarget {
  if ((email === undefined) === (user === undefined)) throw invalid('Set either email or user', 'email');
  if (user !== undefined) {
    if (user === '' || !isStorable(user))
      throw invalid(`${JSON.stringify(user)} is not a valid user ID`, 'user');
    return { projectId, kind: 'user', value: user };
  }
  const address = (email ?? '').trim();
  if (!isEmail(address)) throw invalid(`${JSON.stringify(address)} is not an email address`, 'email');
  return { projectId, kind: 'email', value: normaliseAddress(address) };
}

export function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
