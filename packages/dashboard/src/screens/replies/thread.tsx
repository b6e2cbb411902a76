import { Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReplyListed, ReplyThread } from '@beckon/contract/dashboard';
import { CircleAlert, Forward } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi, useChange, useMay } from '../../api/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Loaded, Person, refused, notify, When } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';
import { TextBlock } from '../../parts/text-block.tsx';
import { TextLink } from '../../parts/text-link.tsx';
import { ForwardMark, SignMark } from './marks.tsx';
import { splitQuoted } from './quoted.ts';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

/** An email with all its replies. */
export function Thread({ id }: { id: string }): ReactNode {
  const thread = useApi('GET /projects/:project/replies/:reply', { params: { reply: id } });
  return (
    <Loaded query={thread} skeleton={<Skeleton height={320} />}>
      {({ data }) => <Whole thread={data} />}
    </Loaded>
  );
}

function Whole({ thread: { reply, email, thread, forward_to: to } }: { thread: ReplyThread }): ReactNode {
  return (
    <Stack gap="lg">
      <Facts
        cols={3}
        facts={[
          { label: 'User', value: <Person id={reply.external_user_id} /> },
          {
            label: 'Reply to',
            value: email ? <EmailLink email={email} /> : 'An email that is no longer stored',
          },
          { label: 'Email sent', value: email ? <When at={email.claimed_at} /> : '–' },
        ]}
      />
      {thread.map((entry) => (
        <ThreadReply key={entry.id} reply={entry} isChosen={entry.id === reply.id} forwardTo={to} />
      ))}
    </Stack>
  );
}

function EmailLink({ email }: { email: NonNullable<ReplyThread['email']> }): ReactNode {
  return (
    <TextLink to="/p/$project/emails/$message" params={{ message: email.id }}>
      {email.subject === '' ? email.rule : email.subject}
    </TextLink>
  );
}

type ThreadReplyProps = { reply: ReplyListed; isChosen: boolean; forwardTo: string | null };

function ThreadReply({ reply, isChosen, forwardTo }: ThreadReplyProps): ReactNode {
  const { body, quoted } = splitQuoted(reply.text);
  const [isQuoteOpen, setQuoteOpen] = useState(false);
  const { from, from_name: name, forward_error: forwardError } = reply;
  return (
    <section aria-label={`Reply from ${from}`} aria-current={isChosen ? 'true' : undefined}>
      <Stack gap="xs">
        <Title order={2} size="h6">
          {name === '' ? from : `${name} <${from}>`}
        </Title>
        <Group gap="sm" wrap="wrap">
          <Muted>
            <When at={reply.received_at} style="long" />
          </Muted>
          <SignMark reply={reply} />
          {reply.forward !== 'none' && <ForwardMark reply={reply} />}
        </Group>
        <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
          {reply.subject}
        </Text>
        <TextBlock text={body === '' ? '(only quoted text)' : body} label={`Text of ${from}`} />
        {quoted !== '' && (
          <ActButton
            variant="subtle"
            size="compact-sm"
            w="fit-content"
            aria-expanded={isQuoteOpen}
            onClick={() => setQuoteOpen(!isQuoteOpen)}
          >
            {isQuoteOpen ? 'Hide quoted text' : 'Show quoted text'}
          </ActButton>
        )}
        {isQuoteOpen && <TextBlock text={quoted} label="Quoted text" />}
        {forwardError !== null && (
          <Notice icon={CircleAlert} title="Forwarding failed">
            <bdi>{forwardError}</bdi>
            {reply.forward_at !== null && (
              <>
                . Next attempt <When at={reply.forward_at} style="relative" />.
              </>
            )}
          </Notice>
        )}
        <ForwardAgain reply={reply} to={forwardTo} />
      </Stack>
    </section>
  );
}

function ForwardAgain({ reply, to }: { reply: ReplyListed; to: string | null }): ReactNode {
  const mayForward = useMay('reviewer');
  const forward = useChange('POST /projects/:project/replies/:reply/forward', {
    refreshes: ['GET /projects/:project/replies', 'GET /projects/:project/replies/:reply'],
    onDone: () => notify('The reply will be forwarded shortly'),
    onRefused: (error) => refused(error),
  });
  if (!mayForward || reply.verified === 'failed') return null;
  if (to === null)
    return <Muted>No forwarding address is set. Set one in Settings → Project → Sender.</Muted>;
  return (
    <ActButton
      icon={Forward}
      change={forward}
      size="compact-sm"
      w="fit-content"
      onClick={() => forward.mutate({ params: { reply: reply.id } })}
    >
      {reply.forward === 'none' ? `Forward to ${to}` : `Forward to ${to} again`}
    </ActButton>
  );
}
