import { Alert, Paper, Stack, Text, Title } from '@mantine/core';
import { Check, CircleHelp, Minus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { UserShown, WhyRule } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Conditions } from '../../parts/conditions.tsx';
import { Empty, Loaded, Mark, Sentence, When } from '../../parts/index.ts';
import { suppressedSubject } from './words.ts';

/** Each rule's own answer for this person, decided now by what decides for real; the first gate that refuses stands out. */
export function Why({ user }: { user: UserShown }): ReactNode {
  const query = useApi('GET /projects/:project/users/:user/why', {
    params: { user: user.external_user_id },
    query: {},
  });
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty
            icon={CircleHelp}
            title="There is no rule yet"
            command="beckon rules create --file rule.json"
          >
            Without a rule nobody is written to.
          </Empty>
        ) : (
          <Stack gap="md">
            {data.map((one) => (
              <RuleAnswer key={one.rule.id} answer={one} zone={user.zone} held={user.held} />
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}

type AnswerProps = { answer: WhyRule; zone: string | null; held: UserShown['held'] };

function RuleAnswer({ answer, zone, held }: AnswerProps): ReactNode {
  const { rule, is_on: isOn, would_fire: wouldFire, triggers, decided, drafts } = answer;
  const [last] = decided;
  return (
    <Paper withBorder p="md" component="section" aria-label={rule.name}>
      <Stack gap="xs">
        <Title order={2} size="h5">
          {rule.name} <Verdict isOn={isOn} wouldFire={wouldFire} />
        </Title>
        {last && (
          <Text size="sm">
            {last.fired ? 'It fired' : 'It did not fire'} <When at={last.at} theirZone={zone} />
            {last.fired ? '' : `: ${last.sentence}`}
            {last.count > 1 && `, ${last.count} times`}
          </Text>
        )}
        {drafts.map((draft) => (
          <DraftAnswer key={draft.id} draft={draft} zone={zone} />
        ))}
        {triggers.map((trigger) => (
          <TriggerAnswer key={trigger.waits_for} trigger={trigger} zone={zone} />
        ))}
        {wouldFire && held && (
          <Gate>
            An email would be drafted, and then not sent.{' '}
            {`Suppressed: ${suppressedSubject(held)} (${held.reason.replaceAll('_', ' ')})`}
          </Gate>
        )}
      </Stack>
    </Paper>
  );
}

function Verdict({ isOn, wouldFire }: { isOn: boolean; wouldFire: boolean }): ReactNode {
  if (!isOn) return <Mark icon={Minus} tone="quiet" label="Off" />;
  return wouldFire ? (
    <Mark icon={Check} tone="good" label="Would fire if it came now" />
  ) : (
    <Mark icon={X} tone="warn" label="Would not fire now" />
  );
}

/** The first that refuses: behind it nothing was asked. */
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

function TriggerAnswer({ trigger, zone }: { trigger: Trigger; zone: string | null }): ReactNode {
  const { waits_for, last_seen_at, would_fire, sentence, reason, at, note, would_pass_if: passes } = trigger;
  return (
    <Stack gap={4}>
      <Text size="sm">
        Waits for: <Sentence text={waits_for} />,{' '}
        {last_seen_at === null ? (
          'which never was so far'
        ) : (
          <>
            last <When at={last_seen_at} theirZone={zone} />
          </>
        )}
      </Text>
      {would_fire ? (
        <Text size="sm">
          It would fire {at === null ? 'if it came now' : <When at={at} theirZone={zone} />}
          {note !== null && `, ${note}`}
        </Text>
      ) : (
        <Gate>
          First refused by: {sentence}
          {passes.length > 0 && (
            <>
              <Text size="sm" mt={6}>
                {reason === 'exit' ? 'Would pass if none of these held:' : 'Would pass if:'}
              </Text>
              <Conditions of={passes} />
            </>
          )}
        </Gate>
      )}
    </Stack>
  );
}

function DraftAnswer({ draft, zone }: { draft: WhyRule['drafts'][number]; zone: string | null }): ReactNode {
  const { subject, state, deadline_at, ended_at, held, holds } = draft;
  return (
    <Stack gap={4}>
      <Text size="sm">
        Letter “{subject}”: {state.replaceAll('_', ' ')}
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
      {!holds && <Gate>The condition of its rule does not hold any more</Gate>}
      {held && (
        <Gate>
          Held by: {held.sentence}
          {held.until !== null && (
            <>
              , until <When at={held.until} theirZone={zone} />
            </>
          )}
        </Gate>
      )}
    </Stack>
  );
}
