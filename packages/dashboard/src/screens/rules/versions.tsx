import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RuleDetails, RuleVersion } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Json, Loaded, Sentence, When } from '../../parts/index.ts';
import { WordDiff } from '../../parts/word-diff.tsx';
import { Muted } from '../../parts/muted.tsx';
import { VersionSelect } from '../../parts/version-select.tsx';

/** All saved versions with their changes. */
export function Versions({ rule }: { rule: RuleDetails }): ReactNode {
  const versions = useApi('GET /projects/:project/rules/:rule/versions', { params: { rule: rule.id } });
  return <Loaded query={versions}>{({ data }) => <VersionHistory versions={data} />}</Loaded>;
}

function VersionHistory({ versions }: { versions: RuleVersion[] }): ReactNode {
  return (
    <Stack gap="md">
      <VersionSelect
        versions={versions}
        labelOf={({ version, is_present: isPresent }) =>
          isPresent ? `${version} (current)` : String(version)
        }
        beside={(version) => (
          <Muted pb={8}>
            Saved <When at={version.created_at} />
            {version.created_by === null ? '' : ` by ${version.created_by}`}
            {version.runs > 0 && `; ${version.runs} active runs use it`}
          </Muted>
        )}
      >
        {(version, before) => <Compared version={version} before={before} />}
      </VersionSelect>
    </Stack>
  );
}

type ComparedProps = { version: RuleVersion; before: RuleVersion | undefined };

function Compared({ version, before }: ComparedProps): ReactNode {
  if (!before)
    return (
      <>
        <Difference title="First version">
          <Text size="sm">
            <Sentence text={version.sentence} />
          </Text>
        </Difference>
        <Json value={version.definition} />
      </>
    );
  return (
    <>
      <Difference title={`Compared with version ${before.version}`}>
        <WordDiff before={before.sentence} after={version.sentence} label={`Version ${version.version}`} />
      </Difference>
      <Difference title="JSON">
        <WordDiff before={printed(before)} after={printed(version)} label="JSON" />
      </Difference>
    </>
  );
}

function Difference({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h6" mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function printed({ definition }: RuleVersion): string {
  return JSON.stringify(definition, null, 2);
}
