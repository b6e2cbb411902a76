import { DISCARD_REASONS, type IngestRequest } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, list, type Noun } from '../framework/declare.ts';
import { choice, required } from '../framework/options.ts';
import { fields } from '../output/auto.ts';
import { count, plain } from '../output/words.ts';

export const requests: Noun = {
  name: 'requests',
  help: 'List requests to the public API',
  commands: [
    list('GET /projects/:project/requests', 'list [filter...]', {
      help: 'List requests to the public API, newest first. Equal ones of the same moment are one row.',
      args: { filter: 'Filter terms such as endpoint:events status:422 code:validation_failed key:server' },
      isPaged: true,
      row: [
        ...fields('at endpoint status'),
        ['result', resultOf],
        ...fields('requests accepted rejected'),
        ['key', ({ key }) => key && (key.label ?? key.id)],
        ...fields('slowest=slowest_ms request_ID=request_id'),
      ],
      empty: 'No requests yet. Send an event: beckon track <user> <event>',
    }),
  ],
};

function resultOf({ replayed, code, faults: [fault] }: IngestRequest): string {
  if (replayed) return 'idempotent replay';
  const why = fault && `${fault.field ?? ''} ${fault.message}`.trim();
  return [code === null ? null : plain(code), why].filter(Boolean).join(': ') || 'ok';
}

export const queue: Noun = {
  name: 'queue',
  help: 'Show the ingest queue',
  commands: [
    list('GET /queue', 'show', {
      help: 'Show accepted records that wait for processing or are dead-lettered, in all your projects',
      row: fields('project live bulk oldest_wait=oldest_ms dead_lettered=dead_letters'),
      empty: 'No records wait in any project, and none are dead-lettered.',
    }),
  ],
};

export const deadLetters: Noun = {
  name: 'dead-letters',
  help: 'List, retry and discard records that could not be processed',
  commands: [
    list('GET /projects/:project/dead-letters', 'list', {
      isPaged: true,
      help: 'List dead-lettered records with their errors, oldest first, at most 1,000',
      row: [
        ...fields('seq kind priority error=reason accepted_at dead_lettered_at'),
        ['record', ({ record }) => JSON.stringify(record)],
      ],
      empty: 'No dead-lettered records. Records that cannot be processed appear here.',
    }),
    call('POST /projects/:project/dead-letters/retry', 'retry [records...]', {
      help: 'Retry dead-lettered records; newer records that already wait are processed first',
      args: { records: 'Sequence numbers from beckon dead-letters list (default: all)' },
      body: ({ records }) => (records.length === 0 ? {} : { seqs: records.map(readSeq) }),
      view: ({ retried }) =>
        `${count(retried, 'record')} ${retried === 1 ? 'waits' : 'wait'} for processing again.`,
    }),
    call('POST /projects/:project/dead-letters/discard', 'discard <records...>', {
      help: 'Discard dead-lettered records permanently',
      args: { records: 'Sequence numbers from beckon dead-letters list' },
      options: {
        reason: required(choice('--reason <reason>', 'Reason, recorded in the audit log', DISCARD_REASONS)),
      },
      confirm: ({ records }) => `Discard ${count(records.length, 'record')} permanently?`,
      body: ({ records, reason }) => ({ seqs: records.map(readSeq), reason }),
      view: ({ discarded }) => `Discarded ${count(discarded, 'record')}.`,
    }),
  ],
};

function readSeq(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw usage(`${text} is not a sequence number from beckon dead-letters list`, 'records');
}

export const warnings: Noun = {
  name: 'warnings',
  help: 'List warnings about accepted records',
  commands: [
    list('GET /projects/:project/warnings', 'list', {
      help: 'List warnings about accepted records by day, newest first',
      row: fields('day warning=code records=count last_at'),
      empty: 'No warnings. Records that are accepted but look wrong are counted here.',
    }),
  ],
};
