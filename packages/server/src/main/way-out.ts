import type { TokenKeys } from '../base/letter-token.ts';
import { randomBytes } from 'node:crypto';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Log } from '../base/log.ts';
import { receiveMail } from '../flows/test-inbox/index.ts';
import { MAIL_MAX_BYTES } from '../features/test-inbox/index.ts';
import type { Database } from '../io/db/index.ts';
import { openRelay, type Relay, startMailListener } from '../io/mail/index.ts';

export type WayOutOptions = {
  /** Null: into the outbox of this installation. */
  smtpUrl: string | null;
  tokenKeys: TokenKeys;
  log: Log;
};

/** All of a stop takes ten seconds at most, half of which the sender has had. */
const CUT_OFF_AFTER_MS = 2_000;

/**
 * To whom letters are handed: the relay that the operator named or, where there is none, ourselves. Either way they go over
 * SMTP, so that what is seen in the outbox is what a relay would get.
 */
export async function openWayOut(
  { smtpUrl, tokenKeys, log }: WayOutOptions,
  { db, life }: { db: Database; life: Lifecycle },
): Promise<Relay> {
  const url = smtpUrl ?? (await openTestInbox({ tokenKeys, log }, { db, life }));
  const { reach } = db;
  const relay = openRelay({ url, log, dotSent: reach && (() => reach('email_dot_sent')) });
  life.onStop('relay', () => relay.close(CUT_OFF_AFTER_MS));
  return relay;
}

/** On loopback, and for this process alone: what it asks for nobody else knows. */
async function openTestInbox(
  { tokenKeys, log }: Omit<WayOutOptions, 'smtpUrl'>,
  { db, life }: { db: Database; life: Lifecycle },
): Promise<string> {
  const credentials = { user: 'beckon', pass: randomBytes(24).toString('hex') };
  const listener = await startMailListener({
    host: '127.0.0.1',
    port: 0,
    sizeMax: MAIL_MAX_BYTES,
    credentials,
    async accept(mail) {
      await receiveMail({ db, tokenKeys }, mail);
    },
    log,
  });
  life.onStop('test_inbox', () => listener.close());
  return `smtp://${credentials.user}:${credentials.pass}@127.0.0.1:${listener.port}?tls=optional`;
}
