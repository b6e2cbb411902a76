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
import { Told } from './told.tsx';

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
      title={shown?.subject || 'Letter'}
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
  // Its links are its recipient's: they unsubscribe, and count a click.
  const mayHaveBytes = useMay('editor');
  const href = apiUrl('GET /projects/:project/emails/:email/eml', {
    params: { project: project.id, email: letter.id },
  });
  return (
    <>
      {letter.frozen && mayHaveBytes && (
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
        Its draft
      </Button>
      <SendAgain letter={letter} />
    </>
  );
}

const TABS = ['letter', 'text', 'headers', 'happened', 'told', 'replies'] as const;

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
          <Tabs.Tab value="letter">Letter</Tabs.Tab>
          <Tabs.Tab value="text">Text</Tabs.Tab>
          <Tabs.Tab value="headers">Headers</Tabs.Tab>
          <Tabs.Tab value="happened">What happened{countOf(outcomes.length + hits.length)}</Tabs.Tab>
          <Tabs.Tab value="told">Webhooks{countOf(webhooks.length)}</Tabs.Tab>
          <Tabs.Tab value="replies">Answers{countOf(replies.length)}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="letter" pt="md">
          <Frozen letter={letter} />
        </Tabs.Panel>
        <Tabs.Panel value="text" pt="md">
          {letter.frozen ? (
            <TextBlock text={letter.frozen.text} label="The letter as plain text" />
          ) : (
            <NotKept />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="headers" pt="md">
          {letter.frozen ? (
            <NameValues rows={letter.frozen.headers} label="Headers of the letter" />
          ) : (
            <NotKept />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="happened" pt="md">
          <Happened letter={letter} />
        </Tabs.Panel>
        <Tabs.Panel value="told" pt="md">
          <Told webhooks={webhooks} />
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
      Reason <code>{reason}</code>
      {reply !== null && (
        <>
          {' '}
          · the server said “<bdi>{reply}</bdi>”
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
        { label: 'Template', value: letter.template ?? 'the text of the rule' },
        { label: 'Claimed', value: <When at={letter.claimed_at} theirZone={zone} style="long" /> },
        {
          label: 'Settled',
          value: <When at={letter.ended_at} theirZone={zone} style="long" none="not yet" />,
        },
        { label: 'Attempts', value: attemptsOf(letter) },
        { label: 'From · to provider', value: `${letter.domain ?? '–'} · ${letter.provider ?? '–'}` },
        { label: 'The server said', value: letter.reply ?? '–' },
        {
          label: 'Id of the relay',
          value:
            letter.relay_id === null ? (
              '–'
            ) : (
              <Group gap={4} wrap="nowrap">
                {letter.relay_id}
                <Copy text={letter.relay_id} what="relay id" />
              </Group>
            ),
        },
        { label: 'What became of it', value: <OutcomeMarks outcomes={letter.outcomes} /> },
      ]}
    />
  );
}

function attemptsOf({ attempts, next_at: next }: EmailWhole): ReactNode {
  if (next === null) return attempts;
  return (
    <>
      {attempts}, settled by <When at={next} />
    </>
  );
}

function Frozen({ letter }: { letter: EmailWhole }): ReactNode {
  const project = useProject();
  if (!letter.frozen) return <NotKept />;
  if (!letter.frozen.has_html)
    return <TextBlock text={letter.frozen.text} label="The letter, which has no HTML" />;
  const params = { project: project.id, email: letter.id };
  return (
    <LetterPane
      srcOf={(query) => apiUrl('GET /projects/:project/emails/:email/email.html', { params, query })}
      title={`Letter to ${letter.address}`}
      remoteImages={letter.frozen.remote_images}
    />
  );
}

function NotKept(): ReactNode {
  return (
    <Empty icon={FileQuestion} title="Of this letter no bytes are kept">
      It was never handed over, or it left longer ago than letters are kept.
    </Empty>
  );
}

function Answers({ letter: { replies } }: { letter: EmailWhole }): ReactNode {
  const project = useProject();
  if (replies.length === 0) return <Empty title="Nobody has answered this letter" />;
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
              Open
            </Link>
          </Group>
          <TextBlock text={reply.text} label={`Answer of ${reply.from}`} />
        </Stack>
      ))}
    </Stack>
  );
}
