import { Drawer, Radio, Stack, Switch, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import type { RuleEnrollmentPreview, RuleMode, RuleSwitchPreview } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { tickProps } from '../../parts/bind.ts';
import { Bullets } from '../../parts/bullets.tsx';
import { DialogFoot, ErrorBox, Lines, Loaded, useKept } from '../../parts/index.ts';
import { Muted } from '../../parts/muted.tsx';
import { Part, Proof } from './enable-proof.tsx';
import { EnrollmentPreview } from './enrollment-preview.tsx';
import { audienceWords, canEnroll, previewWords } from './enrollment-words.ts';
import classes from './rules.module.css';
import type { SwitchProps } from './switch-rule.tsx';
import { useSwitch } from './use-switch.ts';

const NARROW = '(max-width: 40em)';

/** Enables a rule after showing what it would have done, to whom, and with which emails. */
export function EnableSheet({ rule, opened, onClose }: SwitchProps): ReactNode {
  const isNarrow = useMediaQuery(NARROW, globalThis.matchMedia(NARROW).matches);
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      title={`Enable ${rule.name}`}
      position={isNarrow ? 'bottom' : 'right'}
      size={isNarrow ? '92%' : 720}
      {...(isNarrow ? { styles: { content: { borderRadius: '12px 12px 0 0' } } } : {})}
    >
      <EnableForm rule={rule} onClose={onClose} />
    </Drawer>
  );
}

type FormProps = Omit<SwitchProps, 'opened'>;

function EnableForm({ rule, onClose }: FormProps): ReactNode {
  const params = { rule: rule.id };
  const [unsaved] = useKept<object | null>(`rule:${rule.id}`, null);
  const [enroll, setEnroll] = useState(false);
  const [confirmed, setConfirmed] = useState(false);
  const [chosen, setChosen] = useState<RuleMode | null>(null);
  const preview = useApi('GET /projects/:project/rules/:rule/switch', { params }, { staleTimeMs: 0 });
  const change = useSwitch(rule, onClose);
  const effects = preview.data?.data;
  const mode = chosen ?? effects?.mode ?? 'autopilot';
  return (
    <Stack gap="lg">
      {unsaved !== null && <Text size="sm">Your unsaved changes are not part of this. Save them first.</Text>}
      <Proof rule={rule} onClose={onClose} />
      <Part title="Users in the audience now">
        <Members rule={rule} enroll={enroll} onEnroll={setEnroll} />
      </Part>
      <Part title="Sending">
        <Loaded query={preview} skeleton={<Lines count={3} />}>
          {({ data }) => (
            <>
              <ModeChoice mode={mode} onMode={setChosen} />
              <Effects preview={data} />
              {data.long_held > 0 && (
                <Switch
                  mt="sm"
                  {...tickProps(confirmed, setConfirmed)}
                  label={`Release ${data.long_held} drafts that were held for more than a day`}
                />
              )}
            </>
          )}
        </Loaded>
      </Part>
      <div className={classes.foot}>
        {change.error && <ErrorBox error={change.error} title="The rule was not enabled" />}
        <DialogFoot onCancel={onClose}>
          <ActButton
            change={change}
            variant="filled"
            disabled={!isReady(effects, confirmed)}
            onClick={() => change.mutate({ params, body: { on: true, confirmed, enroll, mode } })}
          >
            Enable
          </ActButton>
        </DialogFoot>
      </div>
    </Stack>
  );
}

function isReady(preview: RuleSwitchPreview | undefined, isConfirmed: boolean): boolean {
  return preview !== undefined && (preview.long_held === 0 || isConfirmed);
}

type MembersProps = { rule: FormProps['rule']; enroll: boolean; onEnroll: (enroll: boolean) => void };

/** Users who are in the audience already do not enter it: they are enrolled only if that is chosen. */
function Members({ rule, enroll, onEnroll }: MembersProps): ReactNode {
  const params = { rule: rule.id };
  const preview = useApi('GET /projects/:project/rules/:rule/enrollment', { params }, { staleTimeMs: 0 });
  const found = preview.data?.data;
  if (preview.error) return <ErrorBox error={preview.error} title="The members could not be counted" />;
  if (!found) return <Lines count={2} />;
  if (found.audiences.length === 0)
    return (
      <Text size="sm">
        No audience starts this rule. It starts with what Beckon accepts from now on; earlier events do not
        start it.
      </Text>
    );
  if (!canEnroll(found)) return <Text size="sm">{previewWords(found)}</Text>;
  return (
    <Stack gap="xs">
      <Switch {...tickProps(enroll, onEnroll)} label={enrollLabel(found)} />
      {enroll ? (
        <EnrollmentPreview preview={found} />
      ) : (
        <Muted>Otherwise the rule starts for users who join from now on.</Muted>
      )}
    </Stack>
  );
}

function enrollLabel(preview: RuleEnrollmentPreview): string {
  const { members } = preview;
  const those = members === 1 ? 'the 1 user who is' : `the ${members.toLocaleString('en-GB')} users who are`;
  return `Also enroll ${those} in ${audienceWords(preview)} now`;
}

function ModeChoice({ mode, onMode }: { mode: RuleMode; onMode: (mode: RuleMode) => void }): ReactNode {
  return (
    <Radio.Group
      aria-label="Sending mode"
      value={mode}
      onChange={(next) => onMode(next === 'draft' ? 'draft' : 'autopilot')}
    >
      <Stack gap="xs">
        <Radio
          value="autopilot"
          label="Autopilot"
          description="Each draft is sent at its deadline, unless a member decides before."
        />
        <Radio
          value="draft"
          label="Drafts only"
          description="Each draft waits in Review until a member approves it."
        />
      </Stack>
    </Radio.Group>
  );
}

/** What continues when a rule is enabled again. */
function Effects({ preview: { drafts, others, runs } }: { preview: RuleSwitchPreview }): ReactNode {
  const lines = [
    ...(drafts > 0
      ? [`${drafts} held drafts continue. They are spread over time, and none is sent within 15 minutes.`]
      : []),
    ...(others > 0 ? [`${others} drafts expired and are canceled.`] : []),
    ...(runs > 0 ? [`${runs} paused runs continue.`] : []),
  ];
  return lines.length === 0 ? null : <Bullets mt="sm" spacing={4} items={lines} />;
}
