import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { EmailWhole } from '@beckon/contract/dashboard';
import { CircleAlert, CircleHelp, FileQuestion } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApi, useFeed, useMay, useProject, useRefresh } from '../../api/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Copy, Empty, Loaded, Page, Person, When } from '../../parts/index.ts';
import { EmailPane, EmailWaiting } from '../../parts/email-pane.tsx';
import { Notice } from '../../parts/notice.tsx';
import { NameValues, TextBlock } from '../../parts/text-block.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { Happened } from './happened.tsx';
import { OutcomeMarks, StateMark } from './marks.tsx';
import { SendAgain } from './send-again.tsx';
import { EmailWebhooks } from './webhooks.tsx';
import { TabPages } from '../../parts/tab-pages.tsx';
import { DownloadButton } from '../../parts/download-button.tsx';
import { Muted } from '../../parts/muted.tsx';

const route = getRouteApi('/p/$project/emails/$message');

export function EmailScreen(): ReactNode {
  const { message } = route.useParams();
  const email = useApi('GET /projects/:project/emails/:email', { params: { email: message } });
  const refresh = useRefresh();
  useFeed(
    ({ type, email_id: id, id: itemId }) =>
      (type === 'email' || type === 'outcome') && (id === message || itemId === message),
    () => void refresh('GET /projects/:project/emails/:email'),
  );
  const details = email.data?.data;
  return (
    <Page
      title={details?.subject || 'Email'}
      beside={details && <StateMark email={details} />}
      actions={details && <Actions email={details} />}
    >
      <Loaded query={email} skeleton={<EmailWaiting />}>
        {({ data }) => <Whole email={data} />}
      </Loaded>
    </Page>
  );
}

function Actions({ email }: { email: EmailWhole }): ReactNode {
  const project = useProject();
  // Its links belong to the recipient: they unsubscribe and count clicks.
  const mayHaveBytes = useMay('editor');
  const href = apiUrl('GET /projects/:project/emails/:email/eml', {
    params: { project: project.id, email: email.id },
  });
  return (
    <>
      {email.raw && mayHaveBytes && <DownloadButton href={href}>.eml</DownloadButton>}
      <LinkButton to="/p/$project/drafts/$draft" params={{ draft: email.draft_id }}>
        Open draft
      </LinkButton>
      <SendAgain email={email} />
    </>
  );
}

function Whole({ email }: { email: EmailWhole }): ReactNode {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const { hits, outcome_history: outcomes, webhooks, replies, raw } = email;
  return (
    <Stack gap="lg">
      <ProblemNotice email={email} />
      <Head email={email} />
      <TabPages
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
        pages={[
          { value: 'email', label: 'Email', content: <RawHtml email={email} /> },
          {
            value: 'text',
            label: 'Text',
            content: raw ? <TextBlock text={raw.text} label="Plain text of the email" /> : <NotKept />,
          },
          {
            value: 'headers',
            label: 'Headers',
            content: raw ? <NameValues rows={raw.headers} label="Headers of the email" /> : <NotKept />,
          },
          {
            value: 'outcomes',
            label: `Outcomes${countOf(outcomes.length + hits.length)}`,
            content: <Happened email={email} />,
          },
          {
            value: 'webhooks',
            label: `Webhooks${countOf(webhooks.length)}`,
            content: <EmailWebhooks webhooks={webhooks} />,
          },
          {
            value: 'replies',
            label: `Replies${countOf(replies.length)}`,
            content: <Replies email={email} />,
          },
        ]}
      />
    </Stack>
  );
}

function ProblemNotice({ email }: { email: EmailWhole }): ReactNode {
  const { reason, reason_text: words, reply, state } = email;
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

function Head({ email }: { email: EmailWhole }): ReactNode {
  const { user_time_zone: zone } = email;
  return (
    <Facts
      facts={[
        { label: 'To', value: email.address },
        { label: 'User', value: <Person id={email.external_user_id} /> },
        {
          label: 'Rule',
          value: (
            <TextLink to="/p/$project/rules/$rule" params={{ rule: email.rule_id }}>
              {email.rule}
            </TextLink>
          ),
        },
        { label: 'Template', value: email.template ?? 'Written in the rule' },
        { label: 'Sending started', value: <When at={email.claimed_at} theirZone={zone} style="long" /> },
        {
          label: 'Sending ended',
          value: <When at={email.ended_at} theirZone={zone} style="long" none="not yet" />,
        },
        { label: 'Attempts', value: attemptsOf(email) },
        {
          label: 'Sending domain · mailbox provider',
          value: `${email.domain ?? '–'} · ${email.provider ?? '–'}`,
        },
        { label: 'SMTP reply', value: email.reply ?? '–' },
        {
          label: 'Relay ID',
          value:
            email.relay_id === null ? (
              '–'
            ) : (
              <Group gap={4} wrap="nowrap">
                {email.relay_id}
                <Copy text={email.relay_id} what="Relay ID" />
              </Group>
            ),
        },
        { label: 'Outcomes', value: <OutcomeMarks outcomes={email.outcomes} /> },
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

function RawHtml({ email }: { email: EmailWhole }): ReactNode {
  const project = useProject();
  if (!email.raw) return <NotKept />;
  if (!email.raw.has_html) return <TextBlock text={email.raw.text} label="Email without HTML" />;
  const params = { project: project.id, email: email.id };
  return (
    <EmailPane
      srcOf={(query) => apiUrl('GET /projects/:project/emails/:email/email.html', { params, query })}
      title={`Email to ${email.address}`}
      remoteImages={email.raw.remote_images}
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

function Replies({ email: { replies } }: { email: EmailWhole }): ReactNode {
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
            <Muted>
              <When at={reply.received_at} />
            </Muted>
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
