import { afterAll, describe, expect, test } from 'vitest';
import { openInbound } from '../../../../testing/factories/inbound-email.ts';
import { newVerifiedScenario, openMailStage } from '../../../../testing/factories/mail-stage.ts';
import { missingPostfix, startPostfix } from '../../../../testing/servers/postfix.ts';
import { startSink } from '../../../../testing/servers/smtp-sink.ts';
import { silentLog } from '../../../platform/log.ts';
import { relayTransport } from '../../delivery/relay-transport.ts';
import { openRelay } from '../../../platform/mail/relay.ts';
import { classifyReply } from '../../outcomes/bounces/classify-reply.ts';

const missing = missingPostfix();

/** The answers of the remote server by recipient; all other recipients accept their email. */
const ANSWERS: Record<string, { code: number; text: string }> = {
  'nobody@home.test': { code: 550, text: '5.1.1 The email account that you tried to reach does not exist' },
  'full@home.test': { code: 452, text: '4.2.2 The mailbox is over quota' },
  'policy@home.test': { code: 550, text: '5.7.1 Message rejected due to content restrictions: spam' },
};

describe.skipIf(missing !== null)(
  `bounces of a real Postfix${missing === null ? '' : ` (${missing})`}`,
  async () => {
    if (missing !== null) return;
    const stage = await openMailStage();
    const { db, clock } = stage.server;
    const far = await startSink({ atRcpt: (address) => ANSWERS[address] ?? null });
    const { port } = await openInbound(stage);
    const postfix = await startPostfix({ farEnd: far.port, bouncesTo: port, giveUpAfterS: 4 });
    const relay = openRelay({
      url: `smtp://127.0.0.1:${postfix.port}?tls=optional`,
      log: silentLog,
      classify: classifyReply,
    });
    afterAll(async () => {
      await relay.close();
      await postfix.stop();
      await far.close();
    });
    const scenario = await newVerifiedScenario(stage);
    const transport = relayTransport({ relay, now: () => clock.now() });
    stage.engine.transport.setResult((email) => transport.submit(email));

    test('a rejection after the relay comes back as a bounce, is classified, and takes effect', async () => {
      for (const address of [...Object.keys(ANSWERS), 'zoe@home.test']) {
        await scenario.user(address, { email: address });
        await scenario.event(address, 'user_signed_up');
      }
      await scenario.later(2 * 3_600_000);
      await postfix.idle();
      const rows = await db.query<{ id: string; class: string; detail: Record<string, unknown> }>(
        `SELECT external_user_id AS id, class, detail FROM beckon.outcome ORDER BY 1`,
      );
      const found = rows.map(({ id, class: kind, detail }) => [
        id,
        detail['bounce_class'],
        detail['status'],
        kind,
      ]);
      expect(found, await postfix.log()).toEqual([
        ['full@home.test', 'soft', '4.2.2', ''],
        ['nobody@home.test', 'hard', '5.1.1', ''],
        ['policy@home.test', 'policy', '5.7.1', ''],
      ]);
      const suppressed = await db.query(`SELECT kind, value, reason FROM beckon.suppression`);
      expect(suppressed).toEqual([{ kind: 'email', value: 'nobody@home.test', reason: 'hard_bounce' }]);
      expect(far.emails.map(({ to }) => to)).toEqual([['zoe@home.test']]);
    }, 60_000);
  },
);
