import { Anchor, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { EmailWhole } from '@beckon/contract/dashboard';
import { CircleAlert, CircleHelp, Download, FileQuestion } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApi, useFeed, useMay, useProject, useRefresh } from '../../api/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Copy, Empty, Loaded, Page, Person, When } from '../../parts/index.ts';
import { LetterPane, LetterWaiting } from '../../parts/letter-pane.tsx';
import { Notice } from '../../parts/notice.tsx';
import { NameValues, TextBlock } from '../../parts/text-block.tsx';
import { Happened } from './happened.tsx';
import { OutcomeMarks, StateMark } from './marks.tsx';
import { SendAgain } from './send-again.tsx';
import { EmailWebhooks } from './webhooks.tsx';

const route = getRouteApi('/p/$project/emails/$message');

export function EmailScreen(): ReactNode {
  const { message } = route.useParams();
  const letter = useApi('GET /projects/:project/emails/:email', { params: { email: message } });
  const refresh = useRefresh();
  useFeed(
    ({ type, email_id: id, id: own }) =>
      (type === 'email' || type === 'outcome') && (id === message || own === message),
    () => void refresh('GET /projects/:project/emails/:email'),
  );
  const shown = letter.data?.data;
  return (
    <Page
      title={shown?.subject || 'Email'}
      beside={shown && <StateMark letter={shown} />}
      actions={shown && <Actions letter={shown} />}
    >
      <Loaded query={letter} skeleton={<LetterWaiting />}>
        {({ data }) => <Whole letter={data} />}
      </Loaded>
    </Page>
  );
}

function Actions({ letter }: { letter: EmailWhole }): ReactNode {
  const project = useProject();
  // Its links belong to the recipient: they unsubscribe and count clicks.
  const mayHaveBytes = useMay('editor');
  const href = apiUrl('GET /projects/:project/emails/:email/eml', {
    params: { project: project.id, email: letter.id },
  });
  return (
    <>
      {letter.raw && mayHaveBytes && (
        <Button
          component="a"
          href={href}
          download
          variant="default"
          leftSection={<Download size={15} aria-hidden="true" />}
        >
          .eml
        </Button>
      )}
      <Button
        variant="default"
        renderRoot={(props) => (
          <Link
            to="/p/$project/drafts/$draft"
            params={{ project: String(project.id), draft: letter.draft_id }}
            {...props}
          />
        )}
      >
        Open draft
      </Button>
      <SendAgain letter={letter} />
    </>
  );
}

const TABS = ['letter', 'text', 'headers', 'outcomes', 'webhooks', 'replies'] as const;

function Whole({ letter }: { letter: EmailWhole }): ReactNode {
  const { tab = 'letter' } = route.useSearch();
  const navigate = route.useNavigate();
  const { hits, outcome_history: outcomes, webhooks, replies } = letter;
  return (
    <Stack gap="lg">
      <Trouble letter={letter} />
      <Head letter={letter} />
      <Tabs
        value={TABS.find((one) => one === tab) ?? 'letter'}
        onChange={(value) => void navigate({ search: { tab: value ?? undefined }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="letter">Email</Tabs.Tab>
          <Tabs.Tab value="text">Text</Tabs.Tab>
          <Tabs.Tab value="headers">Headers</Tabs.Tab>
          <Tabs.Tab value="outcomes">Outcomes{countOf(outcomes.length + hits.length)}</Tabs.Tab>
          <Tabs.Tab value="webhooks">Webhooks{countOf(webhooks.length)}</Tabs.Tab>
          <Tabs.Tab value="replies">Replies{countOf(replies.length)}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="letter" pt="md">
          <RawHtml letter={letter} />
        </Tabs.Panel>
        <Tabs.Panel value="text" pt="md">
          {letter.raw ? <TextBlock text={letter.raw.text} label="Plain text of the email" /> : <NotKept />}
        </Tabs.Panel>
        <Tabs.Panel value="headers" pt="md">
          {letter.raw ? <NameValues rows={letter.raw.headers} label="Headers of the email" /> : <NotKept />}
        </Tabs.Panel>
        <Tabs.Panel value="outcomes" pt="md">
          <Happened letter={letter} />
        </Tabs.Panel>
        <Tabs.Panel value="webhooks" pt="md">
          <EmailWebhooks webhooks={webhooks} />
        </Tabs.Panel>
        <Tabs.Panel value="replies" pt="md">
          <Answers letter={letter} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function Trouble({ letter }: { letter: EmailWhole }): ReactNode {
  const { reason, reason_text: words, reply, state } = letter;
  if (words === null) return null;
  return (
    <Notice icon={state === 'failed' ? CircleAlert : CircleHelp} title={capital(words)}>
      Reason: <code>{reason}</code>
      {reply !== null && (
        <>
          {' '}
          · SMTP reply “<bdi>{reply}</bdi>”
        </>
      )}
    </Notice>
  );
}

function countOf(count: number): string {
  return count === 0 ? '' : ` (${count})`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Head({ letter }: { letter: EmailWhole }): ReactNode {
  const project = useProject();
  const { user_time_zone: zone } = letter;
  return (
    <Facts
      facts={[
        { label: 'To', value: letter.address },
        { label: 'User', value: <Person id={letter.external_user_id} /> },
        {
          label: 'Rule',
          value: (
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link
                  to="/p/$project/rules/$rule"
                  params={{ project: String(project.id), rule: letter.rule_id }}
                  {...props}
                />
              )}
            >
              {letter.rule}
            </Anchor>
          ),
        },
        { label: 'Template', value: letter.template ?? 'Written in the rule' },
        { label: 'Sending started', value: <When at={letter.claimed_at} theirZone={zone} style="long" /> },
        {
          label: 'Sending ended',
          value: <When at={letter.ended_at} theirZone={zone} style="long" none="not yet" />,
        },
        { label: 'Attempts', value: attemptsOf(letter) },
        {
          label: 'Sending domain · mailbox provider',
          value: `${letter.domain ?? '–'} · ${letter.provider ?? '–'}`,
        },
        { label: 'SMTP reply', value: letter.reply ?? '–' },
        {
          label: 'Relay ID',
          value:
            letter.relay_id === null ? (
              '–'
            ) : (
              <Group gap={4} wrap="nowrap">
                {letter.relay_id}
                <Copy text={letter.relay_id} what="Relay ID" />
              </Group>
            ),
        },
        { label: 'Outcomes', value: <OutcomeMarks outcomes={letter.outcomes} /> },
      ]}
    />
  );
}

function attemptsOf({ attempts, lease_until: until }: EmailWhole): ReactNode {
  if (until === null) return attempts;
  return (
    <>
      {attempts}; ends by <When at={until} /> at the latest
    </>
  );
}

function RawHtml({ letter }: { letter: EmailWhole }): ReactNode {
  const project = useProject();
  if (!letter.raw) return <NotKept />;
  if (!letter.raw.has_html) return <TextBlock text={letter.raw.text} label="Email without HTML" />;
  const params = { project: project.id, email: letter.id };
  return (
    <LetterPane
      srcOf={(query) => apiUrl('GET /projects/:project/emails/:email/email.html', { params, query })}
      title={`Email to ${letter.address}`}
      remoteImages={letter.raw.remote_images}
    />
  );
}

function NotKept(): ReactNode {
  return (
    <Empty icon={FileQuestion} title="The raw email is not stored">
      It was never sent, or it is older than the retention of emails.
    </Empty>
  );
}

function Answers({ letter: { replies } }: { letter: EmailWhole }): ReactNode {
  const project = useProject();
  if (replies.length === 0) return <Empty title="No replies to this email" />;
  return (
    <Stack>
      {replies.map((reply) => (
        <Stack key={reply.id} gap={4}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {reply.from_name === '' ? reply.from : `${reply.from_name} <${reply.from}>`}
            </Text>
            <Text size="sm" c="dimmed">
              <When at={reply.received_at} />
            </Text>
            <Link
              to="/p/$project/replies"
              params={{ project: String(project.id) }}
              search={{ reply: reply.id }}
            >
              Open reply
            </Link>
          </Group>
          <TextBlock text={reply.text} label={`Reply from ${reply.from}`} />
        </Stack>
      ))}
    </Stack>
  );
}
