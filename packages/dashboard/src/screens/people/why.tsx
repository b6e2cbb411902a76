import { Alert, Paper, Stack, Text, Title } from '@mantine/core';
import { Check, CircleHelp, Minus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { UserDetails, WhyRule } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Conditions } from '../../parts/conditions.tsx';
import { Empty, Loaded, Mark, Sentence, When } from '../../parts/index.ts';
import { suppressedSubject, suppressionWords } from './words.ts';
import { stateWords } from '../../parts/codes.ts';

/** The result of each rule for this user, evaluated now by the real code, with the first failing condition. */
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
              <RuleExplanation
                key={explanation.rule.id}
                explanation={explanation}
                zone={user.zone}
                suppression={user.suppression}
              />
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}

type RuleExplanationProps = {
  explanation: WhyRule;
  zone: string | null;
  suppression: UserDetails['suppression'];
};

function RuleExplanation({ explanation, zone, suppression }: RuleExplanationProps): ReactNode {
  const { rule, on: isOn, would_fire: wouldFire, triggers, decisions, drafts } = explanation;
  const [last] = decisions;
  return (
    <Paper withBorder p="md" component="section" aria-label={rule.name}>
      <Stack gap="xs">
        <Title order={2} size="h5">
          {rule.name} <ResultMark isOn={isOn} wouldFire={wouldFire} />
        </Title>
        {last && (
          <Text size="sm">
            {last.fired ? 'Fired' : 'Did not fire'} <When at={last.at} theirZone={zone} />
            {last.fired ? '' : `: ${last.sentence}`}
            {last.count > 1 && `, ${last.count} times`}
          </Text>
        )}
        {drafts.map((draft) => (
          <DraftExplanation key={draft.id} draft={draft} zone={zone} />
        ))}
        {triggers.map((trigger) => (
          <TriggerExplanation key={trigger.waits_for} trigger={trigger} zone={zone} />
        ))}
        {wouldFire && suppression && (
          <Gate>
            An email would be drafted but not sent.{' '}
            {`Suppressed: ${suppressedSubject(suppression)} (${suppressionWords(suppression.reason)})`}
          </Gate>
        )}
      </Stack>
    </Paper>
  );
}

function ResultMark({ isOn, wouldFire }: { isOn: boolean; wouldFire: boolean }): ReactNode {
  if (!isOn) return <Mark icon={Minus} tone="quiet" label="Off" />;
  return wouldFire ? (
    <Mark icon={Check} tone="good" label="Would fire now" />
  ) : (
    <Mark icon={X} tone="warn" label="Would not fire now" />
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

function TriggerExplanation({ trigger, zone }: { trigger: Trigger; zone: string | null }): ReactNode {
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
          Would fire {at === null ? 'if the event arrived now' : <When at={at} theirZone={zone} />}
          {note !== null && `, ${note}`}
        </Text>
      ) : (
        <Gate>
          Reason: {sentence}
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

function DraftExplanation({
  draft,
  zone,
}: {
  draft: WhyRule['drafts'][number];
  zone: string | null;
}): ReactNode {
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
