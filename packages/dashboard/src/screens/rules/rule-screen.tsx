import { Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Lock, Power, UserPlus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RuleDetails } from '@beckon/contract/dashboard';
import { useApi, useMay } from '../../api/index.ts';
import { Empty, later, Loaded, Page, WhenOpened } from '../../parts/index.ts';
import { EditRule } from './edit-rule.tsx';
import { startsByEntering } from './enrollment-words.ts';
import { Ladder } from './ladder.tsx';
import { HintMarks, ModeMark } from './rule-marks.tsx';
import { SwitchRule } from './switch-rule.tsx';
import { TabPages } from '../../parts/tab-pages.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const Backtest = later(() => import('./backtest.tsx'), 'Backtest');
const Edits = later(() => import('./edits.tsx'), 'Edits');
const EnrollDialog = later(() => import('./enroll-dialog.tsx'), 'EnrollDialog', null);
const EnrollmentProgress = later(() => import('./enrollment-progress.tsx'), 'EnrollmentProgress', null);
const Inside = later(() => import('./inside.tsx'), 'Inside');
const NewRule = later(() => import('./new-rule.tsx'), 'NewRule');
const Results = later(() => import('./results.tsx'), 'Results');
const Versions = later(() => import('./versions.tsx'), 'Versions');

const route = getRouteApi('/p/$project/rules/$rule');

export function RuleScreen(): ReactNode {
  const { rule } = route.useParams();
  const mayEdit = useMay('editor');
  if (rule !== 'new') return <ExistingRule reference={rule} />;
  return mayEdit ? <NewRule /> : <NotEditor />;
}

function NotEditor(): ReactNode {
  return (
    <Page title="New rule">
      <Empty icon={Lock} title="Creating a rule requires the editor role">
        Ask an admin of this project for the role.
      </Empty>
    </Page>
  );
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
        <ActButton
          icon={UserPlus}
          disabled={rule.enrollment?.state === 'running'}
          onClick={() => setEnrolling(true)}
        >
          Enroll members…
        </ActButton>
      )}
      <WhenOpened opened={isEnrolling}>
        <EnrollDialog rule={rule} opened={isEnrolling} onClose={() => setEnrolling(false)} />
      </WhenOpened>
      <ActButton icon={Power} onClick={() => setSwitching(true)}>
        {rule.on ? 'Disable…' : 'Enable…'}
      </ActButton>
      <SwitchRule rule={rule} opened={isSwitching} onClose={() => setSwitching(false)} />
    </>
  );
}

function RuleTabs({ rule, reference }: { rule: RuleDetails; reference: string }): ReactNode {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const inside = rule.runs.active + rule.runs.paused;
  return (
    <>
      {rule.enrollment && <EnrollmentProgress reference={reference} enrollment={rule.enrollment} />}
      <Ladder rule={rule} />
      <TabPages
        value={tab}
        onChange={(next) =>
          void navigate({ search: (was) => ({ ...was, tab: next, filter: undefined }), replace: true })
        }
        pages={[
          { value: 'rule', label: 'Rule', content: <EditRule key={rule.id} rule={rule} /> },
          { value: 'results', label: 'Results', content: <Results rule={rule} /> },
          { value: 'backtest', label: 'Backtest', content: <Backtest rule={rule} /> },
          { value: 'edits', label: 'Edits', content: <Edits rule={rule} /> },
          { value: 'versions', label: 'Versions', content: <Versions rule={rule} /> },
          {
            value: 'people',
            label: inside > 0 ? `Active runs (${inside.toLocaleString('en-GB')})` : 'Active runs',
            content: <Inside rule={rule} />,
          },
        ]}
      />
    </>
  );
}
