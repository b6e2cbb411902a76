import { createServer } from 'node:http';
import { idMaker } from '../../packages/server/src/base/ids.ts';
import { systemClock } from '../../packages/server/src/base/clock.ts';
import { silentLog } from '../../packages/server/src/base/log.ts';
import { createSender, type Transport } from '../../packages/server/src/flows/send-drafts/index.ts';
import { openDatabase } from '../../packages/server/src/io/db/index.ts';
import { testMailroom, TOKEN_KEY } from '../../packages/server/testkit/mailroom.ts';
import { startSender } from '../../packages/server/src/worker/sender.ts';

/**
 * The sender of a worker in a process of its own, with a transport that says at once that every letter was sent. It rests
 * until it is told to begin (`POST /begin`, `POST /rest`), so that a process that is warm can be left out of a run.
 */
const db = await openDatabase({
  connection: () => ({ connectionString: process.env['DATABASE_URL'] }),
  clock: systemClock,
  log: silentLog,
});
let handed = 0;
const transport: Transport = {
  // Not what this bench measures: as many at a time as the batches bring.
  slots: 500,
  hand() {
    handed += 1;
    return Promise.resolve({ result: 'sent' });
  },
};
const sender = createSender({
  db,
  log: silentLog,
  newId: idMaker(db.clock),
  transport,
  mailroom: testMailroom(),
  tokenKey: TOKEN_KEY,
  togetherMs: 100,
});
let running: ReturnType<typeof startSender> | null = null;

async function turnTo(place: string | undefined): Promise<void> {
  if (place === '/begin') running ??= startSender({ db, sender, log: silentLog });
  if (place !== '/rest') return;
  await running?.stop();
  running = null;
}

const server = createServer((request, response) => {
  void turnTo(request.url).then(() => response.end(JSON.stringify({ handed })));
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
  void turnTo('/rest').then(() => db.close());
});
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.stdout.write('ready\n'));
