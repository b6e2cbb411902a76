import { Button, Group, Loader, Text } from '@mantine/core';
import { CircleCheck, Undo2 } from 'lucide-react';
import type { DraftWhole } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { apiUrl, useApi, useChange, useProject } from '../../api/index.ts';
import { EmailFrame, refused, useNow } from '../../parts/index.ts';
import { draftReasonWords } from '../../parts/draft-words.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import type { DraftStage } from './draft-stage.ts';
import classes from './first-minute.module.css';
import { Waiting } from './waiting.tsx';

const FRAME_PX = 340;
const POLL_MS = 5_000;

type SentEmailProps = { draft: DraftWhole; stage: Exclude<DraftStage, 'review'>; isTestInbox: boolean };

/** The first email after its approval: the time to undo it, and then the email itself. */
export function SentEmail({ draft, stage, isTestInbox }: SentEmailProps): ReactNode {
  const project = String(useProject().id);
  if (stage === 'approved') return <Undoing draft={draft} />;
  if (stage === 'sent') return isTestInbox ? <InTestInbox draft={draft} /> : <ByRelay draft={draft} />;
  return (
    <>
      <Text size="sm" role="status">
        The email was not sent{draft.reason === null ? '' : `: ${draftReasonWords(draft.reason)}`}.
      </Text>
      <Group>
        <LinkButton to="/p/$project/drafts/$draft" params={{ project, draft: draft.id }}>
          Open draft
        </LinkButton>
      </Group>
    </>
  );
}

const SECOND_MS = 1_000;

/** An approved draft is sent when the time to undo it has passed and the send checks pass. */
function Undoing({ draft: { id, state, reason, not_before: at } }: { draft: DraftWhole }): ReactNode {
  const now = useNow();
  const undo = useChange('POST /projects/:project/drafts/:draft/undo', {
    refreshes: ['GET /projects/:project/drafts/:draft'],
    onRefused: (error) => refused(error, 'Undo failed'),
  });
  const seconds = at === null ? 0 : Math.max(0, Math.ceil((Date.parse(at) - now) / SECOND_MS));
  if (state === 'held' && reason !== null)
    return <Waiting isActive={false}>Approved. Held: {draftReasonWords(reason)}.</Waiting>;
  return (
    <Group gap="sm">
      <Group gap="xs" role="status">
        <Loader size={14} aria-hidden="true" />
        <Text size="sm">Approved. The email is sent when the time to undo has passed.</Text>
      </Group>
      {seconds > 0 && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Undo2 size={14} aria-hidden="true" />}
          loading={undo.isPending}
          onClick={() => undo.mutate({ params: { draft: id }, body: {} })}
        >
          Undo ({seconds} s)
        </Button>
      )}
    </Group>
  );
}

/** The email as the test inbox captured it, byte for byte what a relay would get. */
function InTestInbox({ draft }: { draft: DraftWhole }): ReactNode {
  const project = String(useProject().id);
  const inbox = useApi(
    'GET /projects/:project/test-inbox',
    { query: { draft: draft.id } },
    { everyMs: POLL_MS },
  );
  const email = inbox.data?.data.find(({ kind }) => kind === 'user');
  if (!email) return <Waiting isActive>Sent. Waiting for the test inbox.</Waiting>;
  const src = apiUrl('GET /projects/:project/test-inbox/:email/email.html', {
    params: { project, email: email.id },
    query: { scheme: 'light', images: 'hide' },
  });
  return (
    <>
      <Group gap="xs" wrap="nowrap" role="status">
        <CircleCheck size={16} aria-hidden="true" className={classes.good} />
        <Text size="sm">
          Captured in the test inbox: “{email.subject}” to {email.to}.
        </Text>
      </Group>
      <EmailFrame src={src} title={`Email to ${email.to}`} height={FRAME_PX} />
      <Group gap="xs">
        <LinkButton variant="filled" to="/p/$project/home" params={{ project }}>
          Open dashboard
        </LinkButton>
        <LinkButton to="/p/$project/test-inbox/$message" params={{ project, message: email.id }}>
          Open in test inbox
        </LinkButton>
      </Group>
    </>
  );
}

function ByRelay({ draft }: { draft: DraftWhole }): ReactNode {
  const project = String(useProject().id);
  return (
    <>
      <Group gap="xs" wrap="nowrap" role="status">
        <CircleCheck size={16} aria-hidden="true" className={classes.good} />
        <Text size="sm">The relay accepted the email to {draft.user.email}. Look into your inbox.</Text>
      </Group>
      <Group gap="xs">
        <LinkButton variant="filled" to="/p/$project/home" params={{ project }}>
          Open dashboard
        </LinkButton>
        <LinkButton to="/p/$project/drafts/$draft" params={{ project, draft: draft.id }}>
          Open email
        </LinkButton>
      </Group>
    </>
  );
}
