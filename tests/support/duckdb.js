#!/usr/bin/env node
// duckdb.js: SQL statements from standard input, separated by ';' at a line's end, the result of the last as CSV: what
// tests need of the DuckDB command line, by npm's @duckdb/node-api (NODE_PATH, or installed beside this file).
// usage: duckdb.js [-OPTION...] [DATABASE]   (-readonly is obeyed; -init takes a value; others are those of CSV output)
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { DuckDBInstance } = require('@duckdb/node-api');

function argument() {
    const args = process.argv.slice(2);
    const init = args.indexOf('-init');
    if (init >= 0) {
        args.splice(init, 2);
    }
    return { database: args.find((a) => !a.startsWith('-')) || ':memory:', readonly: args.includes('-readonly') };
}

async function main() {
    const { database, readonly } = argument();
    const statements = fs.readFileSync(0, 'utf8').split(/;\s*(?:\n|$)/).filter((s) => s.trim() !== '');
    const settings = { threads: '1', access_mode: readonly ? 'READ_ONLY' : 'AUTOMATIC' };
    const connection = await (await DuckDBInstance.create(database, settings)).connect();
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'duckdb-'));
    try {
        const last = statements.pop();
        for (const s of statements) {
            await connection.run(s);
        }
        if (/^\s*(SELECT|WITH|FROM)\b/i.test(last)) { // the engine writes the CSV: bytes as it has them
            await connection.run(`COPY (${last}) TO '${folder}/out' (FORMAT csv, HEADER)`);
            process.stdout.write(fs.readFileSync(`${folder}/out`));
        } else {
            await connection.run(last);
        }
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
}

main().catch((e) => {
    process.stderr.write(String(e.message || e) + '\n');
    process.exit(1);
});
