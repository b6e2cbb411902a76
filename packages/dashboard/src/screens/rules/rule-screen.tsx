import { Button, Group, Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Power, UserPlus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RuleDetails } from '@beckon/contract/dashboard';
import { useApi, useMay } from '../../api/index.ts';
import { later, Loaded, Page, WhenOpened } from '../../parts/index.ts';
import { EnrollmentProgress } from './enrollment-progress.tsx';
import { startsByEntering } from './enrollment-words.ts';
import { Ladder } from './ladder.tsx';
import { Results } from './results.tsx';
import { HintMarks, ModeMark } from './rule-marks.tsx';
import { SwitchDialog } from './switch-dialog.tsx';

const Backtest = later(() => import('./backtest.tsx'), 'Backtest');
const EditRule = later(() => import('./edit-rule.tsx'), 'EditRule');
const Edits = later(() => import('./edits.tsx'), 'Edits');
const EnrollDialog = later(() => import('./enroll-dialog.tsx'), 'EnrollDialog');
const Inside = later(() => import('./inside.tsx'), 'Inside');
const NewRule = later(() => import('./new-rule.tsx'), 'NewRule');
const Versions = later(() => import('./versions.tsx'), 'Versions');

const route = getRouteApi('/p/$project/rules/$rule');

export function RuleScreen(): ReactNode {
  const { rule } = route.useParams();
  return rule === 'new' ? <NewRule /> : <ExistingRule reference={rule} />;
}

function ExistingRule({ reference }: { reference: string }): ReactNode {
  const rule = useApi('GET /projects/:project/rules/:rule', { params: { rule: reference } });
  const details = rule.data?.data;
  return (
    <Page
      title={details?.name ?? 'Rule'}
      beside={
        details && (
          <Group gap={6}>
            <ModeMark rule={details} />
            <HintMarks rule={details} />
          </Group>
        )
      }
      actions={details && <Actions rule={details} />}
    >
      <Loaded query={rule}>{({ data }) => <RuleTabs rule={data} reference={reference} />}</Loaded>
    </Page>
  );
}

function Actions({ rule }: { rule: RuleDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const [isSwitching, setSwitching] = useState(false);
  const [isEnrolling, setEnrolling] = useState(false);
  if (!mayEdit) return null;
  return (
    <>
      {rule.on && startsByEntering(rule.definition) && (
        <Button
          variant="default"
          leftSection={<UserPlus size={16} aria-hidden="true" />}
          disabled={rule.enrollment?.state === 'running'}
          onClick={() => setEnrolling(true)}
        >
          Enroll members…
        </Button>
      )}
      <WhenOpened opened={isEnrolling}>
        <EnrollDialog rule={rule} opened={isEnrolling} onClose={() => setEnrolling(false)} />
      </WhenOpened>
      <Button
        variant="default"
        leftSection={<Power size={16} aria-hidden="true" />}
        onClick={() => setSwitching(true)}
      >
        {rule.on ? 'Turn off…' : 'Turn on…'}
      </Button>
      <SwitchDialog rule={rule} opened={isSwitching} onClose={() => setSwitching(false)} />
    </>
  );
}

const TABS = [
  ['rule', 'Rule'],
  ['results', 'Results'],
  ['backtest', 'Backtest'],
  ['edits', 'Edits'],
  ['versions', 'Versions'],
  ['people', 'Active runs'],
] as const;

function RuleTabs({ rule, reference }: { rule: RuleDetails; reference: string }): ReactNode {
  const { tab = 'rule' } = route.useSearch();
  const navigate = route.useNavigate();
  const inside = rule.runs.active + rule.runs.paused;
  return (
    <>
      <EnrollmentProgress reference={reference} enrollment={rule.enrollment} />
      <Ladder rule={rule} />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          void navigate({ search: (was) => ({ ...was, tab: next ?? undefined }), replace: true })
        }
      >
        <Tabs.List mb="md">
          {TABS.map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {value === 'people' && inside > 0 ? `${label} (${inside.toLocaleString('en-GB')})` : label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="rule">
          <EditRule key={rule.id} rule={rule} />
        </Tabs.Panel>
        <Tabs.Panel value="results">
          <Results rule={rule} />
        </Tabs.Panel>
        <Tabs.Panel value="backtest">
          <Backtest rule={rule} />
        </Tabs.Panel>
        <Tabs.Panel value="edits">
          <Edits rule={rule} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <Versions rule={rule} />
        </Tabs.Panel>
        <Tabs.Panel value="people">
          <Inside rule={rule} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
