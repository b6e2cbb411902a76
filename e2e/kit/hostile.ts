import { vi } from 'vitest';
import { openTalk } from '../../packages/server/testing/servers/smtp-client.ts';
import type { Installation } from './installation.ts';
import { type CustomerServer, serverWith } from './public-api.ts';
import type { Session } from './session.ts';

/** Text that would run if it were parsed as HTML. The final `x` keeps it complete where ends are trimmed. */
export const HOSTILE = `"'><img src=x onerror=ran=1></title></script><script>ran=1</script>x`;
const LINK = 'javascript:ran=1//';
const EVENT = 'hello_said';
const WITHIN = { timeout: 60_000, interval: 200 };

type World = { session: Session; projectId: number; installation: Installation; mailInPort: number };

/** Writes hostile text into every place that a user, a member or the author of a reply can fill. */
export async function fillWithHostility(world: World): Promise<void> {
  const post = await writeAsColleague(world);
  await writeAsUser(post);
  const mail = await sendEmail(world);
  await replyTo(world, mail);
}

async function writeAsColleague({ session, projectId, installation }: World): Promise<CustomerServer> {
  const project = `/projects/${projectId}`;
  const write = <T>(path: string, body: object): Promise<T> =>
    session.request('POST', `${project}/${path}`, body);
  await session.request('POST', '/profile', { name: HOSTILE });
  await session.request('POST', '/projects', { name: HOSTILE });
  const settings = {
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    reply_forward_to: 'ada@example.com',
    from_name: HOSTILE,
  };
  await session.request('PATCH', `${project}/settings`, { settings });
  const email = { format: 'markdown', subject: `Hello ${HOSTILE}`, preheader: HOSTILE, body: BODY };
  await write('templates', { name: HOSTILE, source: email });
  await write('audiences', { name: HOSTILE, definition: { trait: HOSTILE, equals: HOSTILE } });
  await write('views', { screen: 'users', name: HOSTILE, filter: 'plan:pro' });
  await write('webhooks', { url: 'https://hooks.example.com/', description: HOSTILE });
  const rule = await write<{ data: { id: string } }>('rules', {
    document: {
      name: HOSTILE,
      when: { event: EVENT },
      deadline: '4h',
      steps: [{ draft: { subject: email.subject, body: BODY } }],
    },
  });
  await write(`rules/${rule.data.id}/switch`, { on: true });
  const { data } = await write<{ data: { secret: string } }>('keys', { label: HOSTILE });
  return serverWith(data.secret, installation);
}

const BODY = [
  'Hello {{ user.name }}.',
  HOSTILE,
  `[This would run](${LINK})`,
  '<a href="https://elsewhere.example/" target="_top">This leads away</a>',
  '<form action="https://elsewhere.example/"><button>This would be sent</button></form>',
  '<meta http-equiv="refresh" content="0;url=https://elsewhere.example/">',
].join('\n\n');

async function writeAsUser(post: CustomerServer): Promise<void> {
  const traits = { name: HOSTILE, company: LINK, [HOSTILE]: HOSTILE, nested: { [HOSTILE]: [HOSTILE] } };
  const users = [HOSTILE, `2${HOSTILE}`];
  for (const [at, external_user_id] of users.entries())
    await post('users', { external_user_id, email: `eve${at}@example.com`, traits });
  const properties = { [HOSTILE]: HOSTILE, url: LINK };
  const events = users.flatMap((external_user_id) =>
    [HOSTILE, EVENT].map((name) => ({ external_user_id, name, properties })),
  );
  const status = await post('events/batch', { events });
  if (status !== 202) throw new Error(`the events were answered with ${status}`);
}

type Mail = { headers: { name: string; value: string }[] };

/** Approves one of the drafts and returns its email from the test inbox. The other draft waits. */
async function sendEmail({ session, projectId }: World): Promise<Mail> {
  const project = `/projects/${projectId}`;
  const first = <T>(path: string): Promise<T> =>
    vi.waitFor(async () => {
      const { data } = await session.request<{ data: T[] }>('GET', `${project}/${path}`);
      const [item] = data;
      if (item === undefined) throw new Error(`there is nothing in ${path}`);
      return item;
    }, WITHIN);
  const { id } = await first<{ id: string }>('drafts?view=review');
  await session.request('POST', `${project}/drafts/${id}/approve`, {});
  const mail = await first<{ id: string }>('test-inbox');
  return (await session.request<{ data: Mail }>('GET', `${project}/test-inbox/${mail.id}`)).data;
}

async function replyTo({ session, projectId, mailInPort }: World, { headers }: Mail): Promise<void> {
  const to = headers.find(({ name }) => name.toLowerCase() === 'reply-to')?.value ?? '';
  const raw = [
    `From: "${HOSTILE.replaceAll('"', '')}" <eve0@example.com>`,
    `To: ${to}`,
    `Subject: Re: ${HOSTILE}`,
    'Message-ID: <answer@example.com>',
    'Content-Type: text/html; charset=utf-8',
    '',
    `<p>&lt;img src=x onerror=ran=1&gt; ${HOSTILE} <a href="${LINK}">link</a></p>`,
    '',
  ].join('\r\n');
  const talk = await openTalk(mailInPort);
  const reply = await talk.submit({ from: 'eve0@example.com', to: [to.replace(/^.*<|>$/g, '')], raw });
  talk.close();
  if (!reply.data.startsWith('250')) throw new Error(`the reply was refused with ${JSON.stringify(reply)}`);
  await vi.waitFor(async () => {
    const { data } = await session.request<{ data: object[] }>('GET', `/projects/${projectId}/replies`);
    if (data.length === 0) throw new Error('the answer is not there');
  }, WITHIN);
}
