import { Alert, Paper, Stack, Text, Title } from '@mantine/core';
import { Check, CircleHelp, Hourglass, Minus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RunOfUser, UserDetails, WhyRule } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Conditions } from '../../parts/conditions.tsx';
import { Empty, Loaded, Mark, type MarkProps, Sentence, When } from '../../parts/index.ts';
import { suppressedSubject, suppressionWords } from './words.ts';
import { capital, stateWords } from '../../parts/codes.ts';
import { draftReasonWords } from '../../parts/draft-words.ts';
import { type Fate, fateOf } from './fate.ts';

/** The result of each rule for this user, evaluated now by the real code: one fate with one reason, and the details on request. */
export function Why({ user }: { user: UserDetails }): ReactNode {
  const query = useApi('GET /projects/:project/users/:user/why', {
    params: { user: user.external_user_id },
    query: {},
  });
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon={CircleHelp} title="No rules yet" command="beckon rules create --file rule.json">
            Rules decide who gets an email. Create one to send emails to users.
          </Empty>
        ) : (
          <Stack gap="md">
            {data.map((explanation) => (
              <RuleExplanation key={explanation.rule.id} explanation={explanation} user={user} />
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}

function RuleExplanation({ explanation, user }: { explanation: WhyRule; user: UserDetails }): ReactNode {
  const { rule, triggers, drafts } = explanation;
  const { zone, suppression } = user;
  const fate = fateOf(explanation, user.runs);
  return (
    <Paper withBorder p="md" component="section" aria-label={rule.name}>
      <Stack gap="xs">
        <Title order={2} size="h5">
          {rule.name} <Mark {...markOf(fate)} />
        </Title>
        <Text size="sm" component="div">
          <Reason fate={fate} zone={zone} suppression={suppression} />
        </Text>
        <details>
          <Text component="summary" size="sm" c="dimmed">
            Details
          </Text>
          <Stack gap="xs" pt="xs">
            {drafts.map((draft) => (
              <DraftExplanation key={draft.id} draft={draft} zone={zone} />
            ))}
            {triggers.map((trigger) => (
              <TriggerExplanation key={trigger.waits_for} trigger={trigger} fate={fate} zone={zone} />
            ))}
          </Stack>
        </details>
      </Stack>
    </Paper>
  );
}

const MARKS: Record<Exclude<Fate['kind'], 'ended'>, MarkProps> = {
  off: { icon: Minus, tone: 'quiet', label: 'Disabled' },
  waiting: { icon: Hourglass, tone: 'info', label: 'Waiting' },
  running: { icon: Hourglass, tone: 'info', label: 'In progress' },
  sent: { icon: Check, tone: 'good', label: 'Sent' },
  eligible: { icon: Check, tone: 'good', label: 'Eligible' },
  not_eligible: { icon: X, tone: 'warn', label: 'Not eligible' },
};

const ENDED_BADLY = new Set(['failed', 'unknown']);

function markOf(fate: Fate): MarkProps {
  if (fate.kind !== 'ended') return MARKS[fate.kind];
  const { state } = fate.draft;
  return ENDED_BADLY.has(state)
    ? { icon: X, tone: 'bad', label: capital(stateWords(state)) }
    : { icon: Minus, tone: 'quiet', label: capital(stateWords(state)) };
}

type ReasonProps = { fate: Fate; zone: string | null; suppression: UserDetails['suppression'] };

/** The one reason of the fate. */
function Reason({ fate, zone, suppression }: ReasonProps): ReactNode {
  switch (fate.kind) {
    case 'off':
      return 'The rule is disabled and enrolls no users.';
    case 'sent':
      return (
        <>
          Sent <When at={fate.at} theirZone={zone} />
        </>
      );
    case 'ended':
      return <EndedReason draft={fate.draft} zone={zone} />;
    case 'waiting':
      return <WaitingReason draft={fate.draft} zone={zone} />;
    case 'running':
      return <RunReason run={fate.run} zone={zone} />;
    case 'not_eligible':
      return capital(fate.sentence);
    case 'eligible':
      return (
        <>
          {fate.at === null ? 'Starts at the next trigger' : 'Starts '}
          {fate.at !== null && <When at={fate.at} theirZone={zone} />}.
          {suppression &&
            ` The email would not be sent: ${suppressedSubject(suppression)} is suppressed (${suppressionWords(suppression.reason)}).`}
        </>
      );
    default:
      return fate satisfies never;
  }
}

type DraftProps = { draft: WhyRule['drafts'][number]; zone: string | null };

function EndedReason({ draft: { state, ended_at: at, reason }, zone }: DraftProps): ReactNode {
  return (
    <>
      {capital(stateWords(state))}
      {at !== null && (
        <>
          {' '}
          <When at={at} theirZone={zone} />
        </>
      )}
      {reason !== null && `: ${draftReasonWords(reason)}`}
    </>
  );
}

function RunReason({ run, zone }: { run: RunOfUser; zone: string | null }): ReactNode {
  const { state, waits_for: waitsFor, next_at: at } = run;
  if (state === 'paused') return 'The run is paused';
  if (at !== null)
    return (
      <>
        {waitsFor === 'event' ? 'Waits for an event, at most until ' : 'The next step is due '}
        <When at={at} theirZone={zone} />
      </>
    );
  return waitsFor === 'event' ? 'Waits for an event' : 'The run continues';
}

function WaitingReason({ draft, zone }: DraftProps): ReactNode {
  const { send_check: check, rule_holds: holds, deadline_at: deadline } = draft;
  if (!holds) return 'The rule’s condition is no longer met';
  if (check)
    return (
      <>
        Held: {check.sentence}
        {check.until !== null && (
          <>
            {' '}
            until <When at={check.until} theirZone={zone} />
          </>
        )}
      </>
    );
  if (deadline === null) return 'The draft waits for approval';
  return (
    <>
      Sends at its deadline, <When at={deadline} theirZone={zone} />
    </>
  );
}

/** The first failing check. Later checks were not evaluated. */
function Gate({ children }: { children: ReactNode }): ReactNode {
  return (
    <Alert color="yellow" variant="light" icon={<X size={16} aria-hidden="true" />} p="xs">
      <Text size="sm" component="div">
        {children}
      </Text>
    </Alert>
  );
}

type Trigger = WhyRule['triggers'][number];

type TriggerProps = { trigger: Trigger; fate: Fate; zone: string | null };

/** What happens at the next trigger. While the rule has another fate, this is about another run of it, and the words say so. */
function TriggerExplanation({ trigger, fate, zone }: TriggerProps): ReactNode {
  const { waits_for, last_seen_at, would_fire, sentence, reason, at, note, would_pass_if: passes } = trigger;
  return (
    <Stack gap={4}>
      <Text size="sm">
        Waits for: <Sentence text={waits_for} />,{' '}
        {last_seen_at === null ? (
          'never so far'
        ) : (
          <>
            last <When at={last_seen_at} theirZone={zone} />
          </>
        )}
      </Text>
      {would_fire ? (
        <Text size="sm">
          {fate.kind === 'eligible' ? 'Starts the rule ' : 'Starts the rule again '}
          {at === null ? 'the next time it happens' : <When at={at} theirZone={zone} />}
          {note !== null && `, ${note}`}
        </Text>
      ) : (
        <Gate>
          {fate.kind === 'not_eligible' || fate.kind === 'off' ? 'Reason' : 'Does not start it again'}:{' '}
          {sentence}
          {passes.length > 0 && (
            <>
              <Text size="sm" mt={6}>
                {reason === 'exit_condition' ? 'Would pass if none of these were true:' : 'Would pass if:'}
              </Text>
              <Conditions of={passes} />
            </>
          )}
        </Gate>
      )}
    </Stack>
  );
}

function DraftExplanation({ draft, zone }: DraftProps): ReactNode {
  const { subject, state, deadline_at, ended_at, send_check: check, rule_holds: holds } = draft;
  return (
    <Stack gap={4}>
      <Text size="sm">
        Draft “{subject}”: {stateWords(state)}
        {ended_at !== null && (
          <>
            {' '}
            <When at={ended_at} theirZone={zone} />
          </>
        )}
        {ended_at === null && deadline_at !== null && (
          <>
            , deadline <When at={deadline_at} theirZone={zone} />
          </>
        )}
      </Text>
      {!holds && <Gate>The rule’s condition is no longer met</Gate>}
      {check && (
        <Gate>
          Held: {check.sentence}
          {check.until !== null && (
            <>
              , until <When at={check.until} theirZone={zone} />
            </>
          )}
        </Gate>
      )}
    </Stack>
  );
}
