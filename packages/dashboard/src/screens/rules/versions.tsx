import { Group, Paper, Select, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { RuleDetails, RuleVersion } from '@beckon/contract/dashboard';
import { useApi } from '../../api/index.ts';
import { Json, Loaded, Sentence, When } from '../../parts/index.ts';
import { WordDiff } from '../../parts/word-diff.tsx';

/** All saved versions with their changes. */
export function Versions({ rule }: { rule: RuleDetails }): ReactNode {
  const versions = useApi('GET /projects/:project/rules/:rule/versions', { params: { rule: rule.id } });
  return <Loaded query={versions}>{({ data }) => <VersionHistory versions={data} />}</Loaded>;
}

function VersionHistory({ versions }: { versions: RuleVersion[] }): ReactNode {
  const [chosen, setChosen] = useState(String(versions[0]?.version ?? ''));
  const at = versions.findIndex(({ version }) => String(version) === chosen);
  const [version, before] = [versions[at], versions[at + 1]];
  if (!version) return null;
  return (
    <Stack gap="md">
      <Group gap="md" align="end">
        <Select
          label="Version"
          value={chosen}
          onChange={(next) => setChosen(next ?? chosen)}
          allowDeselect={false}
          data={versions.map(({ version, is_present: isPresent }) => ({
            value: String(version),
            label: isPresent ? `${version} (current)` : String(version),
          }))}
          w={200}
        />
        <Text size="sm" c="dimmed" pb={8}>
          Saved <When at={version.created_at} />
          {version.created_by === null ? '' : ` by ${version.created_by}`}
          {version.runs > 0 && `; ${version.runs} active runs use it`}
        </Text>
      </Group>
      <Paper withBorder p="md">
        <Title order={2} size="h6" mb="xs">
          {before ? `Compared with version ${before.version}` : 'First version'}
        </Title>
        {before ? (
          <WordDiff before={before.sentence} after={version.sentence} label={`Version ${version.version}`} />
        ) : (
          <Text size="sm">
            <Sentence text={version.sentence} />
          </Text>
        )}
      </Paper>
      {before && (
        <Paper withBorder p="md">
          <Title order={2} size="h6" mb="xs">
            JSON
          </Title>
          <WordDiff before={printed(before)} after={printed(version)} label="JSON" />
        </Paper>
      )}
      {!before && <Json value={version.definition} />}
    </Stack>
  );
}

function printed({ definition }: RuleVersion): string {
  return JSON.stringify(definition, null, 2);
}
