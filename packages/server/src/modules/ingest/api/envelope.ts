import { BATCH_MAX_EVENTS, BULK_INGEST_MAX_RECORDS, type BulkError, ERRORS_MAX } from '@beckon/contract';
import type { FieldFault } from '../../../platform/fault.ts';
import { flawsOf } from '../../../platform/records/flaws.ts';
import type { ReadOptions, ReadRecord } from '../../../platform/records/record.ts';
import type { Steps } from '../../../platform/time/steps.ts';
import type { ReadRequest } from './endpoint.ts';

type Body = Record<string, unknown>;
/** A null body is the plain acceptance, which replies and stored answers omit. */
const PLAIN_202 = { status: 202, body: null };

export function readSingle(body: Body, read: ReadRecord, options: ReadOptions): ReadRequest {
  const record = read(body, options);
  if (typeof record !== 'string') return { ok: false, faults: record.map(inBody) };
  return {
    ok: true,
    records: 1,
    parts: record,
    reply: PLAIN_202,
    userIds: [body['external_user_id'] as string],
    refused: [],
    compact: null,
  };
}

/** All or nothing: one invalid event rejects the request. */
export function* readBatch(body: Body, read: ReadRecord, options: ReadOptions): Steps<ReadRequest> {
  const envelope = readEnvelope(body, { field: 'events', max: BATCH_MAX_EVENTS, options });
  if (!envelope.ok) return envelope;
  const records = yield* readEach(envelope, read, hasAllFaults);
  if (records.refused.length > 0) {
    const faults = records.refused.flatMap(({ index, faults: inRecord }) =>
      inRecord.map((fault) => below(`events.${index}`, fault)),
    );
    return { ok: false, faults: faults.slice(0, ERRORS_MAX) };
  }
  const reply = {
    status: 202,
    body: JSON.stringify({ data: { accepted: true }, meta: { received: envelope.items.length } }),
  };
  yield;
  return {
    ok: true,
    records: records.accepted.length,
    parts: records.accepted.join(','),
    reply,
    userIds: records.userIds,
    refused: [],
    compact: compactText(body, 'events', records.texts),
  };
}

export type BulkOptions = ReadOptions & { field: 'users' | 'events' };

/** Reads each record on its own: valid ones are accepted, and each invalid one is named once. */
export function* readBulk(body: Body, read: ReadRecord, options: BulkOptions): Steps<ReadRequest> {
  const envelope = readEnvelope(body, { field: options.field, max: BULK_INGEST_MAX_RECORDS, options });
  if (!envelope.ok) return envelope;
  const { accepted, refused, userIds, texts } = yield* readEach(envelope, (value, each) =>
    firstFault(read(value, each)),
  );
  const errors = refused.map(({ index, faults }): BulkError => ({
    index,
    code: 'validation',
    ...(faults[0] ?? NAMELESS),
  }));
  const result = {
    data: { accepted: accepted.length, rejected: errors.length, errors },
    meta: { received: envelope.items.length },
  };
  yield;
  return {
    ok: true,
    records: accepted.length,
    parts: accepted.join(','),
    reply: { status: 200, body: JSON.stringify(result) },
    userIds,
    refused: errors,
    compact: refused.length === 0 ? compactText(body, options.field, texts) : null,
  };
}

function firstFault(record: string | FieldFault[]): string | FieldFault[] {
  return typeof record === 'string' ? record : record.slice(0, 1);
}

const NAMELESS: FieldFault = { message: 'The record is not valid' };

type Envelope = { ok: true; items: unknown[]; options: ReadOptions } | { ok: false; faults: FieldFault[] };
type EnvelopeRules = { field: 'users' | 'events'; max: number; options: ReadOptions };

function readEnvelope(body: Body, { field, max, options }: EnvelopeRules): Envelope {
  const items = body[field];
  const suppress = body['suppressTriggers'];
  const faults = listFaults(items, field, max);
  if (field === 'events' && suppress !== undefined && typeof suppress !== 'boolean') {
    faults.push({ message: 'suppressTriggers must be a boolean', field: 'suppressTriggers' });
  }
  const { [field]: _, ...rest } = body;
  faults.push(...flawsOf(rest, options.checkStrings).map(inBody));
  if (faults.length > 0 || !Array.isArray(items)) return { ok: false, faults };
  return {
    ok: true,
    items,
    options: field === 'events' && suppress === true ? { ...options, suppress } : options,
  };
}

function listFaults(items: unknown, field: string, max: number): FieldFault[] {
  if (items === undefined) return [{ message: `${field} is required`, field }];
  if (!Array.isArray(items)) return [{ message: `${field} must be an array`, field }];
  if (items.length === 0) return [{ message: `${field} must have at least one record`, field }];
  if (items.length > max) return [{ message: `${field} must not have more than ${max} records`, field }];
  return [];
}

type Records = {
  accepted: string[];
  refused: { index: number; faults: FieldFault[] }[];
  userIds: string[];
  texts: string[];
};

/** Reading this many of the largest records takes some 5 ms. A request of 1,000 such records took 300 ms at once. */
const RECORDS_PER_STEP = 8;

type Items = Pick<Extract<Envelope, { ok: true }>, 'items' | 'options'>;

/** `isEnough`: the records after a rejected one need not be read. */
function* readEach(
  { items, options }: Items,
  read: ReadRecord,
  isEnough: (refused: Records['refused']) => boolean = () => false,
): Steps<Records> {
  const texts: string[] = [];
  const records: Records = { accepted: [], refused: [], userIds: [], texts };
  const each = { ...options, texts };
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0 && index % RECORDS_PER_STEP === 0) yield;
    const record = read(items[index], each);
    if (typeof record === 'string') {
      records.accepted.push(record);
      records.userIds.push((items[index] as { external_user_id: string }).external_user_id);
      continue;
    }
    records.refused.push({ index, faults: record });
    if (isEnough(records.refused)) break;
  }
  return records;
}

/** Limits the faults of an answer. Each may name a path of 2.5 KB, so a thousand records could have 50 MB of them. */
function hasAllFaults(refused: Records['refused']): boolean {
  return refused.reduce((sum, { faults }) => sum + faults.length, 0) >= ERRORS_MAX;
}

/** Returns the result of `JSON.stringify` for the body, in pieces: reading already wrote the texts of its records. */
function compactText(body: Body, field: string, texts: string[]): string[] {
  const pieces = Object.keys(body).flatMap((key, index) => {
    const before = `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`;
    if (key !== field) return [before, JSON.stringify(body[key])];
    return [`${before}[`, ...texts.map((text, record) => (record === 0 ? text : `,${text}`)), ']'];
  });
  return [...pieces, '}'];
}

/** Names `body` as the field of a fault about all records together, because a refusal always names a field. */
function inBody(fault: FieldFault): FieldFault {
  return fault.field === undefined ? below('body', fault) : fault;
}

function below(path: string, fault: FieldFault): FieldFault {
  if (fault.field === undefined) return { message: fault.message.replace('The record', path), field: path };
  const field = `${path}.${fault.field}`;
  return {
    message: fault.message.startsWith(fault.field) ? `${path}.${fault.message}` : fault.message,
    field,
  };
}
