import { DISCARD_REASONS } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';
import { choice, required } from '../framework/options.ts';
import { count } from '../output/words.ts';

export const deadLetters: Noun = {
  name: 'dead-letters',
  help: 'List, retry and discard records that could not be processed',
  commands: [
    list('GET /projects/:project/dead-letters', 'list', {
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

function readSeq(given: string): number {
  if (/^[1-9]\d{0,14}$/.test(given)) return Number(given);
  throw usage(`${given} is not a sequence number from beckon dead-letters list`, 'records');
}
