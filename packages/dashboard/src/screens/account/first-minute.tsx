import { Group, Stack, Text, Title } from '@mantine/core';
import { Check, CircleCheck } from 'lucide-react';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { apiUrl, useApi, useChange, useFeed, useProject, useRefresh } from '../../api/index.ts';
import { EmailFrame, ErrorBox, refused, When } from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { firstCalls } from '../../parts/sample-calls.ts';
import { Samples } from '../../parts/samples.tsx';
import { SendTestEvent } from '../../parts/send-test-event.tsx';
import { useSample } from '../../parts/use-sample.ts';
import classes from './first-minute.module.css';
import { stageOf } from './draft-stage.ts';
import { SentEmail } from './sent-email.tsx';
import { Waiting } from './waiting.tsx';

/** The feed reports every change. This is for a browser whose connection to it is lost. */
const POLL_MS = 5_000;
const FRAME_PX = 340;

const BEFORE_TEST_INBOX = 'No relay is set, so no email leaves this machine. It appears here instead.';
const BEFORE_RELAY = 'The email appears here when the relay has accepted it.';

type Props = { apiKey: string; isTestInbox: boolean };

/** Waits live for the first event, shows its draft with Approve, and then the email. */
export function FirstMinute({ apiKey, isTestInbox }: Props): ReactNode {
  const home = useApi('GET /projects/:project/home', {}, { everyMs: POLL_MS });
  const draft = useFirstDraft(home.data?.data.first_email?.draft_id);
  useEverythingLive();
  const event = home.data?.data.health.last_event ?? null;
  const stage = draft.data ? stageOf(draft.data.data) : null;
  return (
    <>
      {home.error && <ErrorBox error={home.error} title="This page may be outdated" />}
      <Step number={1} title="Send your first event" isDone={event !== null}>
        <SendEvent apiKey={apiKey} event={event} />
      </Step>
      <Step number={2} title="Approve the draft" isDone={stage !== null && stage !== 'review'}>
        {draft.data ? <ReviewDraft draft={draft.data.data} /> : <WaitingForDraft event={event} />}
      </Step>
      <Step number={3} title="See the email" isDone={stage === 'sent'}>
        <EmailStep draft={draft.data?.data} isTestInbox={isTestInbox} />
      </Step>
    </>
  );
}

function useEverythingLive(): void {
  const refresh = useRefresh();
  useFeed(
    () => true,
    () =>
      void refresh(
        'GET /projects/:project/home',
        'GET /projects/:project/drafts/:draft',
        'GET /projects/:project/test-inbox',
      ),
    { everything: true },
  );
}

/** Keeps the draft after it was sent: it is no longer the first one that waits. */
function useFirstDraft(first: string | undefined) {
  const [kept, keep] = useState<string>();
  if (kept === undefined && first !== undefined) keep(first);
  const id = kept ?? first;
  return useApi(
    'GET /projects/:project/drafts/:draft',
    { params: { draft: id ?? '' } },
    { enabled: id !== undefined, everyMs: POLL_MS },
  );
}

type StepProps = { number: number; title: string; isDone: boolean; children: ReactNode };

function Step({ number, title, isDone, children }: StepProps): ReactNode {
  const id = `first-minute-${number}`;
  return (
    <section className={classes.step} aria-labelledby={id} data-done={isDone}>
      <span className={classes.number} aria-hidden="true">
        {isDone ? <Check size={15} /> : number}
      </span>
      <Stack gap="sm" className={classes.content}>
        <Title order={2} size="h5" id={id}>
          {title}
          {isDone && <span className="beckon-visually-hidden"> (done)</span>}
        </Title>
        {children}
      </Stack>
    </section>
  );
}

function WaitingForDraft({ event }: Pick<SendEventProps, 'event'>): ReactNode {
  return (
    <Waiting isActive={event !== null}>
      {event === null
        ? 'The welcome rule drafts an email when the event arrives.'
        : `“${event.name}” arrived. Waiting for the draft of a rule that starts with it.`}
    </Waiting>
  );
}

type EmailStepProps = { draft: DraftWhole | undefined; isTestInbox: boolean };

function EmailStep({ draft, isTestInbox }: EmailStepProps): ReactNode {
  const stage = draft ? stageOf(draft) : 'review';
  if (!draft || stage === 'review')
    return <Waiting isActive={false}>{isTestInbox ? BEFORE_TEST_INBOX : BEFORE_RELAY}</Waiting>;
  return <SentEmail draft={draft} stage={stage} isTestInbox={isTestInbox} />;
}

type SendEventProps = { apiKey: string; event: { name: string; received_at: string } | null };

function SendEvent({ apiKey, event }: SendEventProps): ReactNode {
  const { email, newUser } = useSample();
  return (
    <>
      {event === null ? (
        <Waiting isActive>Waiting for the first event. Send one here, or from your server.</Waiting>
      ) : (
        <Group gap="xs" wrap="nowrap" role="status">
          <CircleCheck size={16} aria-hidden="true" className={classes.good} />
          <Text size="sm">
            Received “{event.name}” <When at={event.received_at} style="relative" />.
          </Text>
        </Group>
      )}
      <Group gap="sm">
        <SendTestEvent isMain={event === null} />
      </Group>
      <Text size="sm">Or run this on your server. It signs up a user with your address.</Text>
      <Samples calls={firstCalls({ user: newUser, email })} apiKey={apiKey} what="first call" />
    </>
  );
}

function ReviewDraft({ draft }: { draft: DraftWhole }): ReactNode {
  const { id, subject, user, rule, content_hash: hash } = draft;
  const project = useProject();
  const approve = useChange('POST /projects/:project/drafts/:draft/approve', {
    refreshes: ['GET /projects/:project/drafts/:draft'],
    onRefused: (error) => refused(error),
  });
  const stage = stageOf(draft);
  const src = apiUrl('GET /projects/:project/drafts/:draft/email.html', {
    params: { project: String(project.id), draft: id },
    query: { scheme: 'light', images: 'hide' },
  });
  return (
    <>
      <div>
        <Text size="sm" fw={600}>
          {subject}
        </Text>
        <Text size="sm" c="dimmed">
          To {user.email ?? user.external_user_id}, from the rule “{rule.name}”
        </Text>
      </div>
      {stage === 'review' && (
        <>
          <EmailFrame src={src} title={`Draft to ${user.email ?? user.external_user_id}`} height={FRAME_PX} />
          <Group gap="xs">
            <ActButton
              icon={Check}
              variant="filled"
              change={approve}
              disabled={user.email === null}
              onClick={() => approve.mutate({ params: { draft: id }, body: { hash } })}
            >
              Approve
            </ActButton>
            <LinkButton to="/p/$project/drafts/$draft" params={{ project: String(project.id), draft: id }}>
              Open draft
            </LinkButton>
          </Group>
        </>
      )}
    </>
  );
}
