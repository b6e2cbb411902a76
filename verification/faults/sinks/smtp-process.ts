import { sha256 } from '../../../packages/server/src/platform/crypto/hash.ts';
import { startSink } from '../../../packages/server/testing/servers/smtp-sink.ts';
import { openJournal } from '../journal.ts';
import { randomOf } from '../random.ts';
import { argument, reportReady, readCommands } from './commands.ts';

/** The receiving mail server. An email is on the disk before it is answered. A few are deferred or refused. */
const SHARES = { later: 0.01, never: 0.002 };

const journal = openJournal(argument('DIR'), 'smtp');
const random = randomOf(`${argument('SEED')} smtp`);
const sink = await startSink({
  port: Number(argument('PORT')),
  keep: false,
  atBody({ from, to, raw }) {
    const replyStatus = replyStatusFor(random());
    const messageId = /^message-id:\s*<([^>]*)>/im.exec(raw)?.[1] ?? '';
    journal.write({
      kind: 'email',
      at: Date.now(),
      messageId,
      from,
      to,
      digest: sha256(Buffer.from(raw, 'latin1')),
      replyStatus,
    });
    return replyStatus === 250 ? null : { code: replyStatus, text: TEXTS[replyStatus] };
  },
});

const TEXTS = { 451: '4.2.1 Later', 550: '5.7.1 Message refused' };

function replyStatusFor(share: number): 250 | 451 | 550 {
  if (share < SHARES.never) return 550;
  return share < SHARES.never + SHARES.later ? 451 : 250;
}

readCommands(() => {});
reportReady({ port: sink.port });
