#!/usr/bin/env node
// clickhouse.js: SQL statements from standard input, separated by ';' at a line's end, the last result as CSV: what tests
// need of clickhouse-local, by npm's chdb (NODE_PATH, or installed beside this file).
'use strict';
const { Session } = require('chdb');
const fs = require('fs');

const session = new Session();
let out = '';
for (const statement of fs.readFileSync(0, 'utf8').split(/;\s*\n/)) {
    if (statement.trim() !== '') {
        out = String(session.query(statement, 'CSVWithNames'));
    }
}
process.stdout.write(out);
session.cleanup();
